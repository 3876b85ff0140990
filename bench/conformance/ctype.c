/* ctype.h: all characters through every class, a line a class. */
#include <ctype.h>
#include <stdio.h>

#define CLASS(NAME) \
	do { \
		unsigned long sum = 0; \
		int count = 0; \
		for (int c = -1; c < 256; c++) if (NAME(c)) count++, sum = sum * 31 + (unsigned)c; \
		printf("%s %d %lx\n", #NAME, count, sum); \
		sum = 0; \
		for (int c = -1; c < 256; c++) if ((NAME)(c)) sum = sum * 31 + (unsigned)c; \
		printf("%lx\n", sum); \
	} while (0)
#define MAP(NAME) \
	do { \
		unsigned long sum = 0; \
		for (int c = -1; c < 256; c++) sum = sum * 31 + (unsigned)NAME(c); \
		printf("%s %lx\n", #NAME, sum); \
	} while (0)

int main(void)
{
	CLASS(isalnum);
	CLASS(isalpha);
	CLASS(isblank);
	CLASS(iscntrl);
	CLASS(isdigit);
	CLASS(isgraph);
	CLASS(islower);
	CLASS(isprint);
	CLASS(ispunct);
	CLASS(isspace);
	CLASS(isupper);
	CLASS(isxdigit);
	MAP(toupper);
	MAP(tolower);
	return 0;
}
