/* A probe of OpenSSL's PKCS5_PBKDF2_HMAC: it answers requests for keys until
 * its input ends, and times the derivation alone. See ../../docs/protocol.md. */
#define _POSIX_C_SOURCE 200809L

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "OpenSSL 3 or newer is needed"
#endif

#ifndef MODE
#define MODE "unknown"
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#if defined(__clang__)
#define TOOLCHAIN "clang-" TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__)
#elif defined(__GNUC__)
#define TOOLCHAIN "gcc-" TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__)
#else
#define TOOLCHAIN "unknown"
#endif

enum {
	MAX_LINE = 64 << 10,          /* with its line feed */
	MAX_KEY = (MAX_LINE - 28) / 2 /* what surely fits an answer */
};

enum { END = -1, TOO_LONG = -2 };

/* read_line reads up to a line feed, which it drops. It returns the length,
 * END (also for a last line that was cut off) or TOO_LONG. */
static int read_line(char line[MAX_LINE])
{
	int c, n = 0;
	while ((c = getc_unlocked(stdin)) != '\n') {
		if (c == EOF)
			return END;
		if (n < MAX_LINE)
			line[n++] = (char)c;
	}
	if (n == MAX_LINE)
		return TOO_LONG;
	line[n] = '\0';
	return n;
}

/* word takes the first word off the text; words are separated by one space. */
static char *word(char **text)
{
	char *begin = *text, *space = strchr(begin, ' ');
	if (space) {
		*space = '\0';
		*text = space + 1;
	} else {
		*text = begin + strlen(begin);
	}
	return begin;
}

/* number is the word's value, or 0 for one that is none from 1 to 2^32-1. */
static uint32_t number(const char *word)
{
	uint64_t n = 0;
	if (strlen(word) > 10)
		return 0;
	for (; *word; word++) {
		if (*word < '0' || *word > '9')
			return 0;
		n = 10 * n + (uint64_t)(*word - '0');
	}
	return n <= UINT32_MAX ? (uint32_t)n : 0;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* unhex decodes a word, - being nothing; it returns the length or -1. */
static int unhex(unsigned char *bytes, const char *word)
{
	int n = 0;
	if (strcmp(word, "-") == 0)
		return 0;
	do {
		int high = digit(word[0]), low = high < 0 ? -1 : digit(word[1]);
		if (low < 0)
			return -1;
		bytes[n++] = (unsigned char)(high << 4 | low);
		word += 2;
	} while (*word);
	return n;
}

static const EVP_MD *hash(const char *prf)
{
	if (strcmp(prf, "sha256") == 0)
		return EVP_sha256();
	if (strcmp(prf, "sha512") == 0)
		return EVP_sha512();
	return strcmp(prf, "sha1") == 0 ? EVP_sha1() : NULL;
}

/* answer writes the answer to one request, without its line feed. */
static void answer(char *request)
{
	static unsigned char salt[MAX_LINE / 2], password[MAX_LINE / 2], key[MAX_KEY];
	static char hex[2 * MAX_KEY];

	if (strcmp(word(&request), "derive") != 0) {
		printf("error unknown request: send derive PRF ITERATIONS KEY_BYTES SALT_HEX PASSWORD_HEX");
		return;
	}
	const EVP_MD *md = hash(word(&request));
	if (!md) {
		printf("error unknown prf: use sha1, sha256 or sha512");
		return;
	}
	uint32_t iterations = number(word(&request)), key_bytes = number(word(&request));
	if (iterations == 0 || iterations > INT_MAX) {
		printf("error iterations: send 1 to %d", INT_MAX);
		return;
	}
	if (key_bytes == 0 || key_bytes > MAX_KEY) {
		printf("error key bytes: send 1 to %d", MAX_KEY);
		return;
	}
	int salt_bytes = unhex(salt, word(&request)), password_bytes = unhex(password, word(&request));
	if (salt_bytes < 0 || password_bytes < 0) {
		printf("error salt or password: send two lower-case hex digits a byte, or - for none");
		return;
	}

	struct timespec start, end;
	clock_gettime(CLOCK_MONOTONIC, &start);
	int ok = PKCS5_PBKDF2_HMAC((const char *)password, password_bytes, salt, salt_bytes,
				   (int)iterations, md, (int)key_bytes, key);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (!ok) {
		const char *why = ERR_reason_error_string(ERR_get_error());
		ERR_clear_error();
		printf("error OpenSSL: %s", why ? why : "failed");
		return;
	}

	for (uint32_t i = 0; i < key_bytes; i++) {
		hex[2 * i] = "0123456789abcdef"[key[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[key[i] & 15];
	}
	long long ns = (end.tv_sec - start.tv_sec) * 1000000000LL + (end.tv_nsec - start.tv_nsec);
	printf("key %.*s ns %lld", (int)(2 * key_bytes), hex, ns);
}

int main(void)
{
	static char line[MAX_LINE];
	static char buffer[MAX_LINE];
	int n;

	setvbuf(stdout, buffer, _IOFBF, sizeof buffer); /* a line is one write */
	printf("pbkdf2-probe/1 openssl version=%s toolchain=%s mode=%s",
	       OpenSSL_version(OPENSSL_VERSION_STRING), TOOLCHAIN, MODE);
	for (;;) {
		putchar('\n');
		if (fflush(stdout) != 0)
			return 1;
		n = read_line(line);
		if (n == END)
			return 0;
		if (n == TOO_LONG)
			printf("error the request is over 64 KiB");
		else if (strlen(line) != (size_t)n)
			printf("error the request has a NUL in it");
		else
			answer(line);
	}
}
