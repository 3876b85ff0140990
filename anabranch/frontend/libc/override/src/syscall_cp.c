/* A cancellation point: nothing interrupts a system call, so that asking before it is enough. */
#include "pthread_impl.h"

hidden long __cancel(void);
hidden const char __cp_begin[1], __cp_end[1], __cp_cancel[1];

hidden long __syscall_cp_asm(volatile void *cancel, syscall_arg_t number, syscall_arg_t a, syscall_arg_t b,
	syscall_arg_t c, syscall_arg_t d, syscall_arg_t e, syscall_arg_t f)
{
	if (*(volatile int *)cancel) return __cancel();
	return __syscall6(number, a, b, c, d, e, f);
}
