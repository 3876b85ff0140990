/* What the headers of sofia-sip ask of their configuration. */
#ifndef SU_CONFIGURE_H
#define SU_CONFIGURE_H
#define SU_HAVE_STDINT 1
#define SU_HAVE_INTTYPES 1
#define SU_HAVE_SYS_TYPES 1
#define SU_HAVE_BSDSOCK 1
#define SU_HAVE_POLL 1
#define SU_HAVE_IN6 1
#define SU_HAVE_SOCKADDR_STORAGE 1
#define SU_HAVE_ADDRINFO 1
#define SU_HAVE_INLINE 1
#define SU_INLINE inline
#define su_inline static inline
#define SU_HAVE_TAGSTACK 1
#define SOFIA_SSIZE_T ssize_t
#define SOFIA_ISIZE_T size_t
#define ISIZE_MAX SIZE_MAX
#define SOFIA_ISSIZE_T ssize_t
#define ISSIZE_MAX SSIZE_MAX
#define SOFIA_USIZE_T size_t
#define USIZE_MAX SIZE_MAX
#endif
