/* Streams on files and pipes of memory: buffering, seeking, pushing back. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void streams(const char *name)
{
	FILE *f = fopen(name, "w+");
	if (!f) {
		printf("fopen %d\n", errno);
		return;
	}
	printf("%d\n", fprintf(f, "line %d\nline %d\n", 1, 2));
	printf("%d %d\n", fputs("third\n", f) >= 0, fputc('x', f));
	printf("%zu\n", fwrite("binary\0data\n", 1, 12, f));
	printf("%ld\n", ftell(f));
	rewind(f);
	char line[64];
	printf("%s", fgets(line, sizeof line, f));
	printf("%s", fgets(line, 4, f));
	printf("|%c", fgetc(f));
	printf("|%d", ungetc('Q', f));
	printf("|%c\n", getc(f));
	printf("%d %ld\n", fseek(f, -5, SEEK_END), ftell(f));
	size_t n = fread(line, 1, sizeof line, f);
	printf("%zu %.*s", n, (int)n, line);
	printf("%d %d\n", !!feof(f), !!ferror(f));
	clearerr(f);
	printf("%d\n", !!feof(f));
	printf("%d\n", fseek(f, 0, SEEK_SET));
	char *whole = NULL;
	size_t size = 0;
	while (getline(&whole, &size, f) > 0) printf("<%zu>", strlen(whole));
	printf("\n");
	free(whole);
	printf("%d\n", fclose(f));
	f = fopen(name, "a");
	printf("%d\n", fprintf(f, "appended\n"));
	fclose(f);
	f = fopen(name, "r");
	fseek(f, 0, SEEK_END);
	printf("%ld\n", ftell(f));
	printf("%d %d\n", fputc('z', f), errno == EBADF);
	fclose(f);
	printf("%d %d\n", fopen("no/such/file", "r") == NULL, errno);
	printf("%d %d\n", fopen(name, "q") == NULL, errno);
}

static void descriptors(const char *name)
{
	struct stat s;
	int d = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
	printf("%d\n", d >= 0);
	printf("%zd\n", write(d, "0123456789", 10));
	printf("%ld\n", (long)lseek(d, 3, SEEK_SET));
	char b[16] = "";
	printf("%zd %s\n", read(d, b, 4), b);
	printf("%zd %.2s\n", pread(d, b, 2, 8), b);
	printf("%d %ld %d\n", fstat(d, &s), (long)s.st_size, S_ISREG(s.st_mode));
	printf("%d\n", ftruncate(d, 5));
	printf("%d %ld\n", stat(name, &s), (long)s.st_size);
	int e = dup(d);
	printf("%d %d\n", e > d, close(d));
	printf("%zd\n", pwrite(e, "XY", 2, 0));
	printf("%d\n", close(e));
	printf("%d %d\n", close(e), errno);
	printf("%d\n", access(name, R_OK));
	printf("%d %d\n", rename(name, "renamed"), access(name, F_OK));
	printf("%d\n", unlink("renamed"));
	printf("%d %d\n", mkdir("folder", 0755), mkdir("folder", 0755));
	printf("%d\n", rmdir("folder"));
	printf("%d %d\n", open("missing", O_RDONLY), errno);
}

static void memory(void)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	fprintf(f, "%d-%s", 42, "memory");
	fclose(f);
	printf("%zu %s\n", size, text);
	free(text);
	char fixed[] = "10 20 thirty";
	f = fmemopen(fixed, strlen(fixed), "r");
	int a, b;
	char word[16];
	printf("%d", fscanf(f, "%d %d %15s", &a, &b, word));
	printf(" %d %d %s\n", a, b, word);
	fclose(f);
	int ends[2];
	printf("%d\n", pipe(ends));
	FILE *in = fdopen(ends[0], "r"), *out = fdopen(ends[1], "w");
	fputs("through the pipe\n", out);
	fclose(out);
	char line[32];
	printf("%s", fgets(line, sizeof line, in));
	printf("%d\n", fgets(line, sizeof line, in) == NULL);
	fclose(in);
	char *made = NULL;
	printf("%d", asprintf(&made, "%s/%03d", "made", 7));
	printf(" %s\n", made);
	free(made);
	setvbuf(stdout, NULL, _IONBF, 0);
	puts("unbuffered");
	putchar('c');
	putchar('\n');
	dprintf(1, "%s\n", "direct");
	write(1, "written\n", 8);
	perror("on stderr");
}

int main(void)
{
	streams("stream.txt");
	descriptors("plain.txt");
	memory();
	return 0;
}
