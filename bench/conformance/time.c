/* time.h without a clock: calendars, formats, zones. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void show(const char *what, const struct tm *t)
{
	printf("%s %d-%d-%d %d:%d:%d w%d y%d d%d\n", what, t->tm_year, t->tm_mon, t->tm_mday, t->tm_hour, t->tm_min,
		t->tm_sec, t->tm_wday, t->tm_yday, t->tm_isdst);
}

int main(void)
{
	static const time_t moments[] = { 0, -1, 951782400, 1709164800, 4102444800, 1e10, -86400 * 365L, 1700000000 };
	static const char *const formats[] = { "%a %A %b %B", "%c", "%d %e %j %m %U %W %w %u", "%D %F %T %R %r",
		"%H %I %M %S %p %y %Y %C", "%G %g %V", "%s %n%t%%", "%x %X %h", "%+4Y %10Y %-d %_d", "%z %Z", "%k%l%P" };
	setenv("TZ", "UTC0", 1);
	tzset();
	for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
		struct tm t, u;
		gmtime_r(&moments[i], &t);
		show("gm", &t);
		printf("%lld\n", (long long)timegm(&t));
		printf("%s", asctime(&t));
		localtime_r(&moments[i], &u);
		show("local", &u);
		printf("%lld\n", (long long)mktime(&u));
	}
	struct tm t = { .tm_year = 124, .tm_mon = 1, .tm_mday = 29, .tm_hour = 13, .tm_min = 5, .tm_sec = 9 };
	mktime(&t);
	char buffer[128];
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		size_t n = strftime(buffer, sizeof buffer, formats[i], &t);
		printf("%zu [%s]\n", n, buffer);
	}
	printf("%zu\n", strftime(buffer, 4, "%Y-%m", &t));
	static const char *const zones[] = { "EST5EDT,M3.2.0,M11.1.0", "<+0530>-5:30", "CET-1CEST,M3.5.0,M10.5.0/3", "XYZ3" };
	for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
		setenv("TZ", zones[i], 1);
		tzset();
		printf("%s %s %ld %d\n", tzname[0], tzname[1], timezone, daylight);
		for (int k = 2; k < 8; k++) {
			struct tm u;
			localtime_r(&moments[k], &u);
			show("zone", &u);
			printf("%s %ld %lld\n", u.tm_zone, (long)u.tm_gmtoff, (long long)mktime(&u));
		}
	}
	setenv("TZ", "UTC0", 1);
	tzset();
	struct tm p = { 0 };
	char *end = strptime("2024-02-29 13:05:09 rest", "%Y-%m-%d %H:%M:%S", &p);
	printf("[%s]\n", end ? end : "none");
	show("parsed", &p);
	end = strptime("Thu, 29 Feb 2024", "%a, %d %b %Y", &p);
	show("parsed", &p);
	printf("%d\n", strptime("nonsense", "%Y", &p) == NULL);
	struct tm over = { .tm_year = 124, .tm_mon = 13, .tm_mday = 40, .tm_hour = 30, .tm_min = -5 };
	printf("%lld\n", (long long)mktime(&over));
	show("normal", &over);
	printf("%g\n", difftime(100, 58));
	return 0;
}
