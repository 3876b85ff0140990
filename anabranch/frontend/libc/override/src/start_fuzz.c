/* A fuzz target as a program: the library is ready, then one input is tried. */
#include <stdint.h>
#include <stdlib.h>

void __anabranch_init(char **, char **);
int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int __anabranch_start_fuzz(const uint8_t *data, size_t size)
{
	static char *arguments[] = { "program", 0 }, *environment[] = { 0 };
	__anabranch_init(arguments, environment);
	LLVMFuzzerTestOneInput(data, size);
	exit(0);
}
