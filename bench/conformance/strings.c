/* string.h, strings.h, wchar.h: one line a call. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static int sign(int x) { return (x > 0) - (x < 0); }
static long at(const char *base, const char *found) { return found ? found - base : -1; }

static void searching(void)
{
	const char *s = "the quick brown fox jumps over the lazy dog";
	printf("%zu %zu %zu\n", strlen(s), strlen(""), strnlen(s, 10));
	printf("%ld %ld %ld\n", at(s, strchr(s, 'q')), at(s, strchr(s, 'Z')), at(s, strchr(s, 0)));
	printf("%ld %ld\n", at(s, strrchr(s, 'o')), at(s, strrchr(s, 'Z')));
	printf("%ld %ld\n", at(s, strchrnul(s, 'x')), at(s, strchrnul(s, 'Z')));
	printf("%ld %ld %ld\n", at(s, strstr(s, "fox")), at(s, strstr(s, "")), at(s, strstr(s, "cat")));
	printf("%ld %ld\n", at(s, strcasestr(s, "FOX")), at(s, strcasestr(s, "CAT")));
	printf("%ld %ld\n", at(s, memchr(s, 'b', 43)), at(s, memchr(s, 'b', 5)));
	printf("%ld %ld\n", at(s, memrchr(s, 't', 43)), at(s, memmem(s, 43, "over", 4)));
	printf("%zu %zu %ld\n", strspn(s, "eht "), strcspn(s, "xyz"), at(s, strpbrk(s, "xyz")));
	printf("%ld %ld\n", at(s, index(s, 'k')), at(s, rindex(s, 'e')));
	printf("%d %d %d %d\n", ffs(0), ffs(8), ffsl(1L << 40), ffsll(-1));
}

static void comparing(void)
{
	printf("%d %d %d\n", sign(strcmp("a", "b")), sign(strcmp("b", "a")), sign(strcmp("a", "a")));
	printf("%d %d\n", sign(strncmp("abc", "abd", 2)), sign(strncmp("abc", "abd", 3)));
	printf("%d %d\n", sign(strcasecmp("Hello", "hELLO")), sign(strncasecmp("HELp", "help!", 5)));
	printf("%d %d\n", sign(memcmp("a\0b", "a\0c", 3)), sign(bcmp("xy", "xy", 2)));
	printf("%d %d\n", sign(strcoll("a", "B")), sign(strcmp("\xff", "a")));
	printf("%d %d %d\n", sign(strverscmp("a9", "a10")), sign(strverscmp("a01", "a1")), sign(strverscmp("1.2", "1.10")));
	char out[16];
	printf("%zu %s\n", strxfrm(out, "text", sizeof out), out);
}

static void copying(void)
{
	char b[32];
	printf("%s\n", strcpy(b, "copy"));
	printf("%s\n", strcat(b, "-cat"));
	printf("%s\n", strncat(b, "-ncat", 3));
	memset(b, '#', sizeof b);
	printf("%.8s\n", strncpy(b, "abc", 6));
	printf("%d %d\n", b[5], b[6]);
	printf("%ld\n", at(b, stpcpy(b, "stp")));
	printf("%ld\n", at(b, stpncpy(b, "stpn", 8)));
	printf("%zu %s\n", strlcpy(b, "too long for it", 8), b);
	printf("%zu %s\n", strlcat(b, "more", 10), b);
	memmove(b + 2, b, 8);
	printf("%.8s\n", b + 2);
	printf("%s\n", (char *)memccpy(b, "stop.here", '.', 9) ? "found" : "not");
	printf("%ld\n", at(b, mempcpy(b, "12345", 5)));
	char *d = strdup("duplicate"), *e = strndup("duplicate", 3);
	printf("%s %s\n", d, e);
	free(d), free(e);
	swab("badc", b, 4);
	printf("%.4s\n", b);
	bzero(b, 4);
	printf("%d\n", b[0] | b[3]);
}

static void tokens(void)
{
	char text[] = "one,two;;three", list[] = "a:b::c", *rest = list, *part, *save;
	for (char *t = strtok(text, ",;"); t; t = strtok(NULL, ",;")) printf("[%s]", t);
	printf("\n");
	while ((part = strsep(&rest, ":"))) printf("[%s]", part);
	printf("\n");
	char again[] = "x y z";
	for (char *t = strtok_r(again, " ", &save); t; t = strtok_r(NULL, " ", &save)) printf("[%s]", t);
	printf("\n");
}

static void messages(void)
{
	static const int codes[] = { 0, EPERM, ENOENT, EINTR, EIO, EBADF, EAGAIN, ENOMEM, EACCES, EEXIST, ENOTDIR, EISDIR,
		EINVAL, ENOSPC, EPIPE, EDOM, ERANGE, ENOSYS, ELOOP, 9999 };
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) printf("%s\n", strerror(codes[i]));
	char b[32];
	printf("%d %s\n", strerror_r(ENOENT, b, sizeof b), b);
	printf("%s %s %s\n", strsignal(2), strsignal(11), strsignal(0));
}

static void wide(void)
{
	wchar_t b[32];
	printf("%zu %d\n", wcslen(L"wide"), sign(wcscmp(L"a", L"b")));
	printf("%ls\n", wcscpy(b, L"copied"));
	printf("%ls\n", wcscat(b, L"+"));
	printf("%ld %ld\n", (long)(wcschr(b, L'p') - b), (long)(wcsrchr(b, L'c') - b));
	printf("%ld\n", (long)(wcsstr(b, L"pied") - b));
	printf("%zu %zu\n", wcsspn(b, L"cop"), wcscspn(b, L"+"));
	printf("%ld %ld\n", wcstol(L"-42x", NULL, 10), wcstol(L"ff", NULL, 16));
	printf("%g\n", wcstod(L"2.5e2", NULL));
	printf("%d %d %d\n", wcwidth(L'a'), wcwidth(0x4e00), wcwidth(7));
	printf("%d %d %d %d\n", !!iswalpha(L'x'), !!iswdigit(L'x'), !!iswspace(L' '), !!iswupper(L'X'));
	printf("%lc %lc\n", (wint_t)towupper(L'q'), (wint_t)towlower(L'Q'));
	printf("%d\n", !!iswctype(L'7', wctype("digit")));
	wmemset(b, L'z', 3);
	printf("%.3ls %d\n", b, sign(wmemcmp(b, L"zzz", 3)));
	printf("%zu\n", mbstowcs(b, "plain", 32));
	char narrow[32];
	printf("%zu %s\n", wcstombs(narrow, L"narrow", 32), narrow);
}

int main(void)
{
	searching();
	comparing();
	copying();
	tokens();
	messages();
	wide();
	return 0;
}
