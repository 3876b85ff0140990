/* regex.h, fnmatch.h, and the like. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

static void try(const char *pattern, int flags, const char *text)
{
	regex_t compiled;
	regmatch_t found[4];
	int error = regcomp(&compiled, pattern, flags);
	if (error) {
		char message[64];
		regerror(error, &compiled, message, sizeof message);
		printf("/%s/: %s\n", pattern, message);
		return;
	}
	error = regexec(&compiled, text, 4, found, 0);
	printf("/%s/ %zu %d", pattern, compiled.re_nsub, error);
	for (size_t i = 0; !error && i <= compiled.re_nsub && i < 4; i++)
		printf(" (%d,%d)", (int)found[i].rm_so, (int)found[i].rm_eo);
	printf("\n");
	regfree(&compiled);
}

int main(void)
{
	try("abc", REG_EXTENDED, "xxabcxx");
	try("^abc$", REG_EXTENDED, "abc");
	try("^abc$", REG_EXTENDED, "abcd");
	try("a.c", REG_EXTENDED, "a-c");
	try("a*b+c?", REG_EXTENDED, "aabbbc");
	try("(a|b)*c", REG_EXTENDED, "abbac");
	try("(foo|bar)(baz)?", REG_EXTENDED, "xbarbaz");
	try("[a-c]+[^0-9]", REG_EXTENDED, "abc1abx");
	try("[[:digit:]]+", REG_EXTENDED, "abc123def");
	try("[[:alpha:]_][[:alnum:]_]*", REG_EXTENDED, "9 name_1");
	try("a{2,3}", REG_EXTENDED, "caaaat");
	try("(a)(b)(c)", REG_EXTENDED, "abc");
	try("\\(a\\)\\1", 0, "xaay");
	try("a\\{2\\}", 0, "baab");
	try("HELLO", REG_EXTENDED | REG_ICASE, "say hello");
	try("^b", REG_EXTENDED | REG_NEWLINE, "a\nb");
	try("x", REG_EXTENDED, "none here");
	try("", REG_EXTENDED, "abc");
	try("(", REG_EXTENDED, "");
	try("[a", REG_EXTENDED, "");
	try("a{3,1}", REG_EXTENDED, "");
	try("*a", REG_EXTENDED, "a");
	try("[[:nope:]]", REG_EXTENDED, "a");
	try("\\", REG_EXTENDED, "a");
	try("(a*)+", REG_EXTENDED, "b");
	try("\\<word\\>", REG_EXTENDED, "a word here");
	try("a|", REG_EXTENDED, "b");
	try("([0-9]+)\\.([0-9]+)", REG_EXTENDED, "version 12.345");
	static const char *const globs[][2] = { { "*.c", "file.c" }, { "*.c", "file.h" }, { "f?le", "file" }, { "[a-f]*", "egg" },
		{ "[!a-f]*", "egg" }, { "*", "" }, { "a\\*b", "a*b" }, { "*/x", "a/x" }, { ".*", ".hidden" }, { "*", ".hidden" } };
	for (size_t i = 0; i < sizeof globs / sizeof *globs; i++) {
		printf("%s %s %d", globs[i][0], globs[i][1], fnmatch(globs[i][0], globs[i][1], 0));
		printf(" %d\n", fnmatch(globs[i][0], globs[i][1], FNM_PATHNAME | FNM_PERIOD));
	}
	return 0;
}
