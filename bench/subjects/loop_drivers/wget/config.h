/* What url.c and utils.c of wget ask of its configuration. */
#define _GNU_SOURCE 1
#define _GL_ATTRIBUTE_PURE __attribute__((pure))
#define _GL_ATTRIBUTE_CONST __attribute__((const))
#define _GL_ATTRIBUTE_MALLOC __attribute__((malloc))
#define _GL_UNUSED __attribute__((unused))
#define _GL_INLINE static inline
#define _GL_INLINE_HEADER_BEGIN
#define _GL_INLINE_HEADER_END
#define HAVE_UNISTD_H 1
#define SIZEOF_OFF_T 8
#define SIZEOF_LONG 8
#define group_member(group) 0
#define _GL_ATTRIBUTE_DEALLOC_FREE
#define _GL_ATTRIBUTE_DEALLOC(function, position)
#define _GL_ATTRIBUTE_ALLOC_SIZE(positions)
#define _GL_ATTRIBUTE_RETURNS_NONNULL
#define _GL_ATTRIBUTE_FORMAT_PRINTF(a, b)
#define GNULIB_XALLOC 1
#define GNULIB_XALLOC_DIE 1
