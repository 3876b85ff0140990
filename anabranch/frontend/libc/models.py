"""Functions of the C library that stay the engine's own, and are not linked.

Kept are those whose models are exact and take one step where C takes many (memory, strings, numbers), those
that C cannot say (`setjmp`), the heap, and the ends that are errors (`abort`, a failed assertion). Whatever
has to do with stdio, the environment or the end of a program comes from musl, so that buffers are flushed in
order.
"""

from __future__ import annotations

STARTS = {"main": "__anabranch_start", "LLVMFuzzerTestOneInput": "__anabranch_start_fuzz"}
"""Function that a program begins in -> ours of the same parameters that runs before it."""
OTHER_START = "__anabranch_start_entry"
"""The same for any other function, in a program without the library."""
KERNEL = frozenset((*(f"__syscall{n}" for n in range(7)), "__get_tp"))
"""All that the library asks of the kernel."""

_HEAP = """
    malloc calloc realloc free reallocarray aligned_alloc memalign posix_memalign valloc
    malloc_usable_size __libc_malloc __libc_calloc __libc_realloc __libc_free
"""
_MEMORY = """
    memcpy memmove mempcpy memset memcmp bcmp memchr memrchr __memrchr rawmemchr memccpy memmem bcopy
    bzero explicit_bzero
"""
_STRINGS = """
    strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr index strchrnul __strchrnul strrchr
    rindex strstr strspn strcspn strpbrk strtok strtok_r __strtok_r strsep strcpy stpcpy __stpcpy
    strncpy stpncpy __stpncpy strcat strncat strlcpy strlcat strdup __strdup strndup __strndup
"""
_CHARACTERS = """
    isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper
    isxdigit toascii tolower toupper
"""
_NUMBERS = """
    abs labs llabs imaxabs atoi atol atoll strtol strtoll strtoul strtoull strtoimax strtoumax
"""
_MATHEMATICS = """
    ceil ceilf floor floorf trunc truncf rint rintf nearbyint nearbyintf round roundf fabs fabsf
    copysign copysignf fmax fmaxf fmin fminf fmod fmodf sqrt sqrtf finite finitef __fpclassify
    __fpclassifyf __signbit __signbitf ceill floorl truncl rintl nearbyintl roundl fabsl copysignl
    fmaxl fminl fmodl sqrtl __fpclassifyl __signbitl
"""
_CONTROL = """
    setjmp _setjmp sigsetjmp __sigsetjmp longjmp _longjmp siglongjmp abort __assert_fail
    __errno_location ___errno_location syscall
"""
_UNMODELLED = """
    __clone dlopen dlsym fesetround __fesetround fegetround fetestexcept feclearexcept feraiseexcept
    fegetenv fesetenv
"""

MODELLED = frozenset(
    " ".join((_HEAP, _MEMORY, _STRINGS, _CHARACTERS, _NUMBERS, _MATHEMATICS, _CONTROL, _UNMODELLED)).split()
)
