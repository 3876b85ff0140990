/* A program from its beginning to its end. */
#include <stdlib.h>

void __anabranch_init(char **, char **);
int main(int, char **, char **);

int __anabranch_start(int argc, char **argv, char **envp)
{
	__anabranch_init(argv, envp);
	exit(main(argc, argv, envp));
}
