/* The thread pointer is asked of the engine. */
uintptr_t __get_tp(void);

#define MC_PC gregs[REG_RIP]
