/* What the build of libtasn1 would find on x86-64 Linux, as far as its sources ask. */
#define _GNU_SOURCE 1
#define VERSION "4.19.0"
#define _GL_INLINE static inline
#define _GL_EXTERN_INLINE static inline
#define _GL_INLINE_HEADER_BEGIN
#define _GL_INLINE_HEADER_END
#define _GL_ATTRIBUTE_PURE __attribute__((pure))
#define _GL_ATTRIBUTE_CONST __attribute__((const))
#define SIZEOF_UNSIGNED_INT 4
#define SIZEOF_UNSIGNED_LONG_INT 8
