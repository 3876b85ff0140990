/* Locales, multibyte text, messages and iconv. */
#define _GNU_SOURCE
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <monetary.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

int main(void)
{
	printf("%s\n", setlocale(LC_ALL, NULL));
	printf("%zu\n", MB_CUR_MAX);
	printf("%s\n", setlocale(LC_ALL, "C.UTF-8") ? "set" : "not");
	printf("%s %s\n", setlocale(LC_CTYPE, NULL), nl_langinfo(CODESET));
	printf("%zu\n", MB_CUR_MAX);
	printf("%s %s %s\n", nl_langinfo(DAY_1), nl_langinfo(MON_12), nl_langinfo(D_FMT));
	struct lconv *l = localeconv();
	printf("[%s] [%s] %d\n", l->decimal_point, l->thousands_sep, l->frac_digits);
	static const char *const texts[] = { "ascii", "h\xc3\xa9llo", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xff", "\xc3", "\xe2\x28\xa1" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		wchar_t wide[16];
		size_t n = mbstowcs(wide, texts[i], 16);
		printf("%zd", (ssize_t)n);
		for (size_t k = 0; n != (size_t)-1 && k < n; k++) printf(" %x", (unsigned)wide[k]);
		printf(" %d\n", mblen(texts[i], strlen(texts[i])));
		mbstate_t state = { 0 };
		wchar_t one = 0;
		printf("%zd", (ssize_t)mbrtowc(&one, texts[i], strlen(texts[i]), &state));
		printf(" %x\n", (unsigned)one);
	}
	char out[8] = "";
	printf("%d", wctomb(out, 0x20ac));
	printf(" %s\n", out);
	printf("%ls|%5ls|%.3ls\n", L"\u00e9t\u00e9", L"\u20ac", L"\u20ac\u20ac");
	char16_t c16;
	char32_t c32;
	mbstate_t state = { 0 };
	printf("%zd", (ssize_t)mbrtoc16(&c16, "\xf0\x9f\x98\x80", 4, &state));
	printf(" %x\n", c16);
	state = (mbstate_t){ 0 };
	printf("%zd", (ssize_t)mbrtoc32(&c32, "\xf0\x9f\x98\x80", 4, &state));
	printf(" %x\n", (unsigned)c32);
	iconv_t convert = iconv_open("UTF-16BE", "UTF-8");
	char source[] = "a\xc3\xa9", target[16], *from = source, *to = target;
	size_t left = strlen(source), room = sizeof target;
	printf("%zd", (ssize_t)iconv(convert, &from, &left, &to, &room));
	printf(" %zu %zu", left, room);
	for (char *p = target; p < to; p++) printf(" %02x", (unsigned char)*p);
	printf("\n");
	iconv_close(convert);
	convert = iconv_open("ISO-8859-1", "UTF-8");
	from = source, to = target, left = strlen(source), room = sizeof target;
	iconv(convert, &from, &left, &to, &room);
	printf("%d %02x\n", (int)(to - target), (unsigned char)target[1]);
	iconv_close(convert);
	printf("%d\n", iconv_open("NO-SUCH", "UTF-8") == (iconv_t)-1);
	return 0;
}
