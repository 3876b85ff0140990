"""Libraries from Debian's sources, and the drivers of `subjects/loop_drivers` that call their functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from bench.lib.debian import source
from bench.unit_all import LIBRARIES as BUILT
from bench.unit_all import Library, prepared

SUBJECTS = Path(__file__).resolve().parent.parent / "subjects" / "loop_drivers"


@dataclass(frozen=True)
class Driver:
    """A program `LIBRARY_NAME.c`: the files of the library that it needs, and how large its strings are."""

    library: str
    name: str
    capacity: int
    files: tuple[str, ...]

    @property
    def full_name(self) -> str:
        return f"{self.library}_{self.name}"


@dataclass(frozen=True)
class Origin:
    """Where a library comes from, and where its drivers find its headers."""

    library: Library
    own: str | None = None
    """Our headers in place of those that its configuration would make: a directory beside the drivers."""
    uses: tuple[str, ...] = ()
    """Packages whose headers it includes."""

    @property
    def package(self) -> str:
        return self.library.package

    def tree(self) -> Path:
        return prepared(self.library) if self.library.steps else source(self.package)

    def flags(self) -> list[str]:
        """Flags for the compiler."""
        tree = self.tree()
        own = [SUBJECTS / self.own] if self.own is not None else []
        places = [*own, *(tree / name for name in self.library.includes), *(source(p) for p in self.uses)]
        return [f"-I{path}" for path in (SUBJECTS, *places)] + [f"-D{name}" for name in self.library.defines]


SIP = "libsofia-sip-ua/"
ORIGINS = {
    "sofia": Origin(
        Library("sofia-sip", (), (), (f"{SIP}url", f"{SIP}su", f"{SIP}bnf", f"{SIP}msg")),
        own="sofia",
    ),
    # The reads of linkhash.c past the end of a key are there only without address checks.
    "json": Origin(replace(BUILT["json-c"], defines=(*BUILT["json-c"].defines, "PRECISE_MEMORY_ACCESS"))),
    "apr": Origin(
        Library(
            "apr", (("./configure", "--disable-shared"),), (),
            ("include", "include/arch/unix", "include/private"),
        ),
    ),
    "tasn1": Origin(BUILT["libtasn1"]),
    "png": Origin(
        Library("libpng1.6", (("cp", "scripts/pnglibconf.h.prebuilt", "pnglibconf.h"),), (), (".",)),
        uses=("zlib",),
    ),
    "wget": Origin(Library("wget", (), (), ("src", "lib"), ("HAVE_CONFIG_H",)), own="wget"),
    "busybox": Origin(
        Library(
            "busybox", (("sh", "-c", 'make HOSTCC="$CC" allnoconfig && make HOSTCC="$CC" silentoldconfig'),),
            (), ("include",), ("_GNU_SOURCE", 'BB_VER="0"'),
        ),
        own="busybox",
    ),
}  # fmt: skip
"""The libraries of the paper. sofia-sip stands for libosip2, whose sources Debian's mirror does not have
here: both parse SIP messages and URLs."""


def _drivers() -> tuple[Driver, ...]:
    url, bnf, msg = f"{SIP}url/url.c", f"{SIP}bnf/bnf.c", f"{SIP}msg/msg_parser_util.c"
    su = f"{SIP}su/su_string.c"
    json = tuple(
        f"{name}.c"
        for name in (
            "json_tokener", "json_object", "json_util", "linkhash", "arraylist", "printbuf", "debug",
            "strerror_override", "random_seed",
        )
    )  # fmt: skip
    tasn1 = tuple(
        f"lib/{name}.c"
        for name in ("decoding", "coding", "element", "gstr", "parser_aux", "structure", "errors")
    )
    png = ("png.c", "pngerror.c", "pngset.c", "pngrutil.c", "pngmem.c", "pngrio.c")
    wget = ("src/url.c", "src/utils.c")
    table: dict[str, dict[str, tuple[int, tuple[str, ...]]]] = {
        "sofia": {
            "url_escape": (10, (url, su)), "url_d": (10, (url, su, bnf)),
            "url_strip_param": (10, (url, su)), "span_domain": (20, (bnf, su)),
            "span_ip6": (10, (bnf, su)), "msg_unquote": (10, (msg, su)), "msg_comment": (20, (msg, su)),
        },
        "json": {
            "tokener": (10, json), "escape": (10, json), "printbuf": (100, ("printbuf.c", "debug.c")),
            "parse_int64": (20, json), "pointer": (10, (*json, "json_pointer.c")),
        },
        "apr": {
            "cpystrn": (50, ("strings/apr_cpystrn.c",)),
            "collapse_spaces": (50, ("strings/apr_cpystrn.c",)),
            "casecmp": (50, ("strings/apr_cstr.c",)),
            "count_newlines": (50, ("strings/apr_cstr.c",)),
            "fnmatch": (20, ("strings/apr_fnmatch.c",)),
            "strnatcmp": (10, ("strings/apr_strnatcmp.c",)),
            "tokenize_to_argv": (10, ("strings/apr_cpystrn.c",)),
            "base64": (10, ("encoding/apr_encode.c",)),
        },
        "tasn1": {
            "length": (50, tasn1), "object_id_der": (10, tasn1), "get_object_id": (10, tasn1),
            "decode_simple": (50, tasn1), "bit_der": (50, tasn1),
        },
        "png": {
            "check_keyword": (50, png), "check_fp": (20, png), "safecat": (50, png), "handle_text": (20, png),
        },
        "wget": {
            "url_unescape": (20, wget), "url_escape": (10, wget), "sepstring": (20, wget),
            "base64_decode": (20, wget), "subdir": (50, wget),
        },
        "busybox": {
            "percent_decode": (20, ("libbb/percent_decode.c",)),
            "simplify_path": (20, ("libbb/simplify_path.c",)),
            "trim": (50, ("libbb/trim.c", "libbb/skip_whitespace.c")),
            "tolower": (50, ("libbb/str_tolower.c", "libbb/endofname.c")),
            "decode_base64": (20, ("libbb/uuencode.c",)),
            "substitute": (20, ("libbb/replace.c",)),
        },
    }  # fmt: skip
    return tuple(
        Driver(library, name, capacity, files)
        for library, drivers in table.items()
        for name, (capacity, files) in drivers.items()
    )


DRIVERS = _drivers()
