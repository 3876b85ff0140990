"""The bugs: where each is published, how its library is built, an input that crashes it.

The inputs are our own, made from the public descriptions; the harnesses of bench/subjects/historic declare
the same bytes unknown.
"""

from __future__ import annotations

from bench.historic.table import Bug, Package

CARES_1_11 = Package("pypi", "pycares", "2.0.0", "c-ares 1.11")
CARES_1_18 = Package("pypi", "pycares", "4.3.0", "c-ares 1.18.1")
LIBUV = Package("pypi", "uvloop", "0.15.2", "libuv 1.40.0")
CJSON = Package("debian", "cjson", "1.7.15", "cJSON 1.7.15")
YAJL = Package("debian", "yajl", "2.1.0", "yajl 2.1.0")
ZLIB = Package("pypi", "pyminizip", "0.2.4", "zlib 1.2.11")
LIBYAML = Package("npm", "libyaml", "0.2.2", "libyaml 0.1.4")
ONIGURUMA = Package("npm", "oniguruma", "6.1.1", "Oniguruma 5.9.6")
STB = Package("debian", "libstb", "0.0~git20220908.8b5f1f3+ds", "stb 2022-09")
GIFLIB = Package("debian", "giflib", "5.2.1", "giflib 5.2.1")
PILLOW_3 = Package("pypi", "Pillow", "3.1.0", "Pillow 3.1.0")
PILLOW_6 = Package("pypi", "Pillow", "6.2.1", "Pillow 6.2.1")
PILLOW_7 = Package("pypi", "Pillow", "7.0.0", "Pillow 7.0.0")
PILLOW_9 = Package("pypi", "Pillow", "9.1.0", "Pillow 9.1.0")

_CARES = "deps/c-ares/src"
_CARES_OLD = (_CARES, f"{_CARES}/config_linux")
_CARES_NEW = (
    f"{_CARES}/lib",
    "deps/c-ares/include",
    "deps/build-config/config_linux",
    "deps/build-config/include",
)
_ZLIB = "zlib-1.2.11"
_YAML = "deps/yaml/src"
_YAML_BUILD = {
    "files": tuple(f"{_YAML}/src/{name}.c" for name in ("api", "reader", "scanner")),
    "include": (f"{_YAML}/include", f"{_YAML}/src"),
    "define": (
        "YAML_VERSION_MAJOR=0",
        "YAML_VERSION_MINOR=1",
        "YAML_VERSION_PATCH=4",
        'YAML_VERSION_STRING="0.1.4"',
    ),
}
_ONIG = "deps/onig"
_STB = ("STBI_NO_STDIO", "STBI_NO_SIMD", "STBI_NO_LINEAR", "STBI_NO_HDR", "STBI_NO_THREAD_LOCALS")

BUGS: tuple[Bug, ...] = (
    Bug(
        name="cares-query",
        package=CARES_1_11,
        number="CVE-2016-5180",
        kind="out-of-bounds",
        function="ares_create_query",
        lines=(195, 196),
        access="write",
        harness="cares_query.c",
        known=b"abcdef\\.\0",
        files=(f"{_CARES}/ares_create_query.c", f"{_CARES}/ares_library_init.c"),
        include=_CARES_OLD,
        define=("HAVE_CONFIG_H", "CARES_STATICLIB"),
    ),
    Bug(
        name="cares-naptr",
        package=CARES_1_11,
        number="CVE-2017-1000381",
        kind="out-of-bounds",
        function="ares_parse_naptr_reply",
        lines=(139, 141),
        harness="cares_naptr.c",
        known=b"\x06" + bytes(14),
        files=tuple(
            f"{_CARES}/{name}.c"
            for name in (
                "ares_parse_naptr_reply",
                "ares_expand_name",
                "ares_expand_string",
                "ares_data",
                "ares_library_init",
                "ares_free_hostent",
                "ares_nowarn",
            )
        ),
        include=_CARES_OLD,
        define=("HAVE_CONFIG_H", "CARES_STATICLIB"),
    ),
    Bug(
        name="cares-network",
        package=CARES_1_18,
        number="CVE-2023-31130",
        kind="out-of-bounds",
        function="inet_net_pton_ipv6",
        lines=(360,),
        harness="cares_network.c",
        known=b"0:0:0/2",
        files=(f"{_CARES}/lib/*.c",),
        include=_CARES_NEW,
        define=("HAVE_CONFIG_H", "CARES_STATICLIB"),
    ),
    Bug(
        name="cares-sortlist",
        package=CARES_1_18,
        number="CVE-2022-4904",
        kind="out-of-bounds",
        function="config_sortlist",
        lines=(2246,),
        access="write",
        harness="cares_sortlist.c",
        known=b"1" * 20 + b"\0",
        files=(f"{_CARES}/lib/*.c",),
        include=_CARES_NEW,
        define=("HAVE_CONFIG_H", "CARES_STATICLIB"),
    ),
    Bug(
        name="libuv-idna",
        package=LIBUV,
        number="CVE-2021-22918",
        kind="out-of-bounds",
        function="uv__utf8_decode1_slow",
        lines=(40, 41, 42, 50, 51, 61),
        harness="uv_idna.c",
        known=b"abcd\xf0",
        files=("vendor/libuv/src/idna.c",),
        include=("vendor/libuv/include", "vendor/libuv/src"),
        define=("_GNU_SOURCE",),
    ),
    Bug(
        name="cjson-length",
        package=CJSON,
        number="CVE-2023-53154",
        kind="out-of-bounds",
        function="parse_string",
        lines=(777,),
        harness="cjson_length.c",
        known=b"123,",
        files=("cJSON.c",),
        include=(".",),
    ),
    Bug(
        name="yajl-surrogate",
        package=YAJL,
        number="CVE-2017-16516",
        kind="assert",
        function="yajl_string_decode",
        lines=(169,),
        harness="yajl_string.c",
        known=rb"d800\\x",
        files=tuple(f"src/yajl{name}.c" for name in ("", "_alloc", "_buf", "_encode", "_lex", "_parser")),
        include=("src",),
        stubs="yajl",
    ),
    Bug(
        name="zlib-extra",
        package=ZLIB,
        number="CVE-2022-37434",
        kind="out-of-bounds",
        function="inflate",
        lines=(764, 765, 766),
        harness="zlib_header.c",
        known=b"\x0c\0" + bytes(12) + b"\x08",
        files=tuple(
            f"{_ZLIB}/{name}.c" for name in ("inflate", "inftrees", "inffast", "adler32", "crc32", "zutil")
        ),
        include=(_ZLIB,),
    ),
    Bug(
        name="pillow-fli",
        package=PILLOW_3,
        number="CVE-2016-0775",
        kind="out-of-bounds",
        function="ImagingFliDecode",
        lines=(188,),
        access="write",
        harness="pillow_fli.c",
        known=bytes([0, 0, 1, 0, 1, 5, 0, 0]),
        files=("libImaging/FliDecode.c",),
        include=("libImaging",),
        stubs="pillow",
    ),
    Bug(
        name="pillow-pcx",
        package=PILLOW_6,
        number="CVE-2020-5312",
        kind="out-of-bounds",
        function="ImagingPcxDecode",
        lines=(76, 77, 78),
        harness="pillow_pcx.c",
        known=b"\x04" + bytes(12),
        files=("src/libImaging/PcxDecode.c",),
        include=("src/libImaging",),
        stubs="pillow",
    ),
    Bug(
        name="pillow-sgi",
        package=PILLOW_6,
        number="CVE-2020-5311",
        kind="out-of-bounds",
        function="expandrow",
        lines=(42, 50),
        access="write",
        harness="pillow_sgi.c",
        known=bytes([0, 0, 2, 16, 0, 0, 2, 16, 0, 0, 0, 9, 0, 0, 0, 9]) + bytes([0x20, 1] + [0] * 8),
        files=("src/libImaging/SgiRleDecode.c",),
        include=("src/libImaging",),
        stubs="pillow",
    ),
    Bug(
        name="pillow-sgi-again",
        package=PILLOW_7,
        number="CVE-2020-11538",
        kind="out-of-bounds",
        function="expandrow",
        lines=(45, 53),
        access="write",
        harness="pillow_sgi.c",
        known=bytes([0, 0, 2, 16, 0, 0, 2, 16, 0, 0, 0, 9, 0, 0, 0, 9])
        + bytes([4, 1, 4, 1, 4, 1, 4, 1, 0, 0]),
        files=("src/libImaging/SgiRleDecode.c",),
        include=("src/libImaging",),
        stubs="pillow",
    ),
    Bug(
        name="pillow-tga",
        package=PILLOW_9,
        number="CVE-2022-30595",
        kind="out-of-bounds",
        function="ImagingTgaRleDecode",
        lines=(46, 47, 63, 81, 121),
        harness="pillow_tga.c",
        known=bytes([5] + [1] * 6 + [3] + [1] * 4),
        files=("src/libImaging/TgaRleDecode.c",),
        include=("src/libImaging",),
        stubs="pillow",
    ),
    Bug(
        name="libyaml-escapes",
        package=LIBYAML,
        number="CVE-2014-2525",
        kind="out-of-bounds",
        function="yaml_parser_scan_uri_escapes",
        lines=(2713,),
        access="write",
        harness="yaml_escapes.c",
        known=b"\x14" + b"41" * 20,
        **_YAML_BUILD,
    ),
    Bug(
        name="libyaml-key",
        package=LIBYAML,
        number="CVE-2014-9130",
        kind="assert",
        function="yaml_parser_save_simple_key",
        lines=(1113,),
        harness="yaml_key.c",
        known=b'\n"c',
        **_YAML_BUILD,
    ),
    Bug(
        name="oniguruma-class",
        package=ONIGURUMA,
        number="CVE-2017-9226",
        kind="out-of-bounds",
        function="next_state_val",
        lines=(4064, 4087),
        harness="onig_class.c",
        known=b"77a",
        files=tuple(
            f"{_ONIG}/{name}.c"
            for name in (
                "regcomp",
                "regenc",
                "regerror",
                "regexec",
                "regparse",
                "regsyntax",
                "regversion",
                "regtrav",
                "st",
                "enc/ascii",
                "enc/unicode",
                "enc/utf8",
            )
        ),
        include=(_ONIG,),
        define=("HAVE_CONFIG_H",),
    ),
    Bug(
        name="stb-image-pic",
        package=STB,
        number="CVE-2023-43898",
        kind="null-pointer",
        function="stbi__convert_format",
        lines=tuple(range(1756, 1772)),
        harness="stb_pic.c",
        known=bytes([0, 8, 3, 0xE0] + [0] * 6),
        include=(".",),
        define=("STBI_ONLY_PIC", *_STB),
    ),
    Bug(
        name="stb-image-gif",
        package=STB,
        number="CVE-2023-45661",
        kind="out-of-bounds",
        function="stbi__gif_load_next",
        lines=(6740,),
        harness="stb_gif.c",
        known=bytes([0, 9, 0x44, 1, 0, 9, 0x44, 1, 12, 9, 0x44, 1]),
        include=(".",),
        define=("STBI_ONLY_GIF", *_STB),
    ),
    Bug(
        name="stb-image-flip",
        package=STB,
        number="CVE-2023-45667",
        kind="null-pointer",
        function="stbi__vertical_flip",
        lines=(1216,),
        harness="stb_flip.c",
        known=bytes(16),
        include=(".",),
        define=("STBI_ONLY_GIF", *_STB),
    ),
    Bug(
        name="stb-vorbis-comment",
        package=STB,
        number="CVE-2023-45680",
        kind="null-pointer",
        function="vorbis_deinit",
        lines=(4214,),
        harness="vorbis_comment.c",
        known=b"\0\0\0\x20" + bytes(12),
        include=(".",),
        define=("STB_VORBIS_NO_STDIO",),
    ),
    Bug(
        name="giflib-screen",
        package=GIFLIB,
        number="CVE-2022-28506",
        kind="out-of-bounds",
        function="DumpScreen2RGB",
        lines=(298, 299, 300),
        harness="gif_screen.c",
        known=b"\0\1\2\xff",
        files=tuple(
            f"{name}.c"
            for name in (
                "dgif_lib",
                "egif_lib",
                "gifalloc",
                "gif_err",
                "gif_hash",
                "getarg",
                "openbsd-reallocarray",
                "quantize",
                "qprintf",
            )
        ),
        include=(".",),
        define=("_GNU_SOURCE",),
    ),
)
