/* Names that exported functions and parameters must not have. */
#include "emit/export/internal.h"

/* clang-format off */

/* Keywords of C and C++, and macros that look like objects. */
static const char words[] =
    " alignas alignof and and_eq asm assert atomic auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield compl complex concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum errno explicit export extern "
    "false far float for friend generic goto huge I if imaginary inline int int16_t int32_t int64_t int8_t linux "
    "long mutable namespace near new noexcept noreturn not not_eq NULL nullptr offsetof operator or or_eq private "
    "protected public ptrdiff_t register reinterpret_cast requires restrict return setjmp short signed size_t "
    "sizeof static static_assert static_cast stderr stdin stdout struct switch template this thread_local throw "
    "true try typedef typeid typename typeof uint16_t uint32_t uint64_t uint8_t uintptr_t union unix unsigned "
    "using va_arg va_copy va_end va_list va_start virtual void volatile wchar_t while xor xor_eq ";

/* Functions of <math.h>, which also have variants with suffix f and l. */
static const char mathematics[] =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim "
    "floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint "
    "lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round scalb scalbln scalbn "
    "significand sin sincos sinh sqrt tan tanh tgamma trunc gamma drem finite isinf isnan j0 j1 jn y0 y1 yn cabs "
    "cacos carg casin catan ccos cexp cimag clog conj cpow cproj creal csin csqrt ctan ";

/* Other functions and objects of the C library and of POSIX that programs commonly see. */
static const char library[] =
    " abort abs accept access alarm aligned_alloc alloca asctime asprintf at_quick_exit atexit atof atoi atol "
    "atoll basename bcmp bcopy bind brk bsearch btowc bzero calloc chdir chmod chown clearerr clock close "
    "closedir connect creat crypt ctime daemon daylight difftime dirname div dlclose dlerror dlopen dlsym dprintf "
    "drand48 dup dup2 ecvt encrypt endgrent endpwent environ erand48 err errx execl execle execlp execv execve "
    "execvp exit fclose fcntl fcvt fdopen feof ferror fflush ffs fgetc fgetpos fgets fileno flock fmemopen fopen "
    "fork fprintf fputc fputs fread free freopen frexp fscanf fseek fsetpos fstat fsync ftell ftime ftruncate ftw "
    "fwrite gcvt getc getchar getcwd getdate getenv getline getopt getpid gets gettimeofday getw glob gmtime "
    "hcreate hdestroy hsearch htonl htons imaxabs imaxdiv index inet_addr initstate insque ioctl isalnum isalpha "
    "isascii isatty isblank iscntrl isdigit isfinite isgraph isgreater isless islower isnormal isprint ispunct "
    "isspace isupper isxdigit jrand48 kill killpg l64a labs lchown lcong48 ldiv lfind link listen llabs lldiv "
    "localeconv localtime lockf longjmp lrand48 lsearch lseek lstat main malloc mblen mbrlen mbrtowc mbstowcs "
    "mbtowc memccpy memchr memcmp memcpy memmem memmove memset mkdir mkfifo mkstemp mktemp mktime mlock mmap "
    "mprotect mrand48 munmap nanosleep nice nrand48 ntohl ntohs open opendir optarg opterr optind optopt pause "
    "pclose perror pipe poll popen pread printf psignal putc putchar putenv puts putw pwrite qsort quick_exit "
    "raise rand rand_r random read readdir readlink readv realloc realpath recv regcomp regexec regfree remove "
    "remque rename rewind rewinddir rindex rmdir sbrk scanf seed48 select send setbuf setenv setgid setitimer "
    "setlocale setpgid setsid setstate setuid setvbuf shutdown sigaction signal signbit signgam sigwait sleep "
    "snprintf socket sprintf srand srand48 srandom sscanf stat stime stpcpy strcasecmp strcat strchr strcmp "
    "strcoll strcpy strcspn strdup strerror strfmon strftime strlen strncasecmp strncat strncmp strncpy strndup "
    "strnlen strpbrk strptime strrchr strsep strsignal strspn strstr strtod strtof strtok strtok_r strtol strtold "
    "strtoll strtoul strtoull strxfrm symlink sync syscall sysconf syslog system tdelete tempnam tfind time "
    "timegm times timezone tmpfile tmpnam toascii tolower toupper towctrans towlower towupper truncate tsearch "
    "ttyname twalk tzname tzset ualarm umask uname ungetc unlink unsetenv usleep utime valloc vdprintf verr vfork "
    "vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf vwarn wait waitpid warn warnx wcscat wcslen write "
    "writev ";

/* clang-format on */

/* Prefixes of names that are generated in the same file. */
static const char *const own[] = {"ct_",      "CT_",   "cotan_", "COTAN_", "in_",      "out_",   "items_",
                                  "value_",   "grad_", "vjp_",   "jvp_",   "work_",    "places", "begin",
                                  "error_of", "ended", "failed", "no_run", "no_memory"};

static bool is_among(const char *list, const char *name, size_t length) {
    for (const char *at = list; (at = strstr(at, " ")) != NULL && at[1] != '\0'; at++)
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == ' ') return true;
    return false;
}

/* A name without lower-case letters may be a macro, like BUFSIZ, EOF, HUGE_VAL. */
static bool looks_like_macro(const char *name) {
    for (const char *c = name; *c != '\0'; c++)
        if (*c >= 'a' && *c <= 'z') return false;
    return name[1] != '\0';
}

static bool is_word(const char *name) { return is_among(words, name, strlen(name)) || looks_like_macro(name); }

/* Whether a name has such a prefix; with_more: or would have with a _ added, as `in`, whose types would be in_X. */
static bool is_own(const char *name, bool with_more) {
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t begins = strlen(own[i]);
        if (strncmp(name, own[i], begins) == 0) return true;
        if (with_more && length + 1 == begins && strncmp(name, own[i], length) == 0) return true;
    }
    return false;
}

bool ct_emit_export_is_own(const char *name) { return is_own(name, false); }

bool ct_emit_export_is_taken(const char *name) {
    size_t length = strlen(name);
    char last = name[length - 1];
    if (is_word(name) || is_among(library, name, length) || is_among(mathematics, name, length)) return true;
    if ((last == 'f' || last == 'l') && is_among(mathematics, name, length - 1)) return true;
    return is_own(name, true);
}

/* NAME_ENDING; the name alone for ending 0. */
static CtSym with_ending(ExportNames *names, const char *name, const char *const *endings, uint32_t ending) {
    const char *text = ending == 0 ? name : ct_format(names->arena, "%s_%s", name, endings[ending - 1]);
    return ct_intern_text(&names->symbols, text);
}

static bool are_free(ExportNames *names, const char *name, const char *const *endings, uint32_t count) {
    for (uint32_t i = 0; i <= count; i++)
        if (ct_map_has(&names->taken, ct_key(with_ending(names, name, endings, i)))) return false;
    return true;
}

const char *ct_emit_export_unique_with(ExportNames *names, const char *name, const char *const *endings,
                                       uint32_t count) {
    const char *base = ct_emit_plain(names->arena, name);
    if (is_word(base)) base = ct_format(names->arena, "%s_", base);
    const char *unique = base;
    names->symbols.arena = names->arena;
    for (uint32_t n = 2; !are_free(names, unique, endings, count); n++)
        unique = ct_format(names->arena, "%s_%u", base, n);
    for (uint32_t i = 0; i <= count; i++)
        ct_map_set(names->arena, &names->taken, ct_key(with_ending(names, unique, endings, i)), NULL);
    return unique;
}

const char *ct_emit_export_unique(ExportNames *names, const char *name) {
    return ct_emit_export_unique_with(names, name, NULL, 0);
}
