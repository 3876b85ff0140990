/* What happens before a program: the state that the kernel and the dynamic loader leave to it, then musl's own. */
#include <elf.h>
#include <unistd.h>
#include "pthread_impl.h"
#include "libc.h"

enum { PAGE = 4096, CLOCK_TICKS = 100 };

/* Written by the front end: calls of the functions that carry __attribute__((constructor)) or (destructor). */
void __anabranch_constructors(void);
void __anabranch_destructors(void);

static struct pthread main_thread;
static const unsigned char random_bytes[16] = {
	0x6b, 0x1f, 0xd3, 0x52, 0x90, 0xe4, 0x3a, 0x77, 0x08, 0xc5, 0xbe, 0x21, 0xf9, 0x4d, 0x86, 0x13,
};
static size_t auxiliary[] = {
	AT_PAGESZ, PAGE,
	AT_CLKTCK, CLOCK_TICKS,
	AT_SECURE, 0,
	AT_RANDOM, (size_t)random_bytes,
	AT_HWCAP, 0,
	AT_EXECFN, 0,
	AT_NULL, 0,
};

void __anabranch_init(char **argv, char **envp)
{
	char *name = argv && argv[0] ? argv[0] : "";
	__environ = envp;
	libc.auxv = auxiliary;
	libc.page_size = PAGE;
	for (size_t i = 0; auxiliary[i]; i += 2)
		if (auxiliary[i] == AT_EXECFN) auxiliary[i + 1] = (size_t)name;
	__progname = __progname_full = name;
	for (size_t i = 0; name[i]; i++)
		if (name[i] == '/') __progname = name + i + 1;
	/* Thread-local variables are objects of their own, so that the block holds the thread's description only. */
	libc.tls_align = sizeof(void *);
	libc.tls_size = 2 * sizeof(void *) + sizeof(struct pthread) + libc.tls_align;
	if (__init_tp(&main_thread) < 0) a_crash();
	__anabranch_constructors();
}

void __libc_exit_fini(void)
{
	__anabranch_destructors();
}
