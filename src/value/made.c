/* Whether a value is one that programs make: some constructors of the library hold less than the types of their fields
 * say. The parts of the value are known to be such. */
#include <stdlib.h>

#include "value/internal.h"

static bool is_named(const CtType *type, const char *name) {
    return type->kind == TYPE_DATA && type->data->is_library && strcmp(type->data->name->text, name) == 0;
}

static const CtWord *words_of(CtWord value) { return ((const CtFields *)value.object)->words; }

static const struct {
    const char *name;
    int64_t least, most;
    const char *wrong;
} narrow[] = {
    {"Word8", 0, UINT8_MAX, "a Word8 is a number from 0 to 255"},
    {"Word16", 0, UINT16_MAX, "a Word16 is a number from 0 to 65535"},
    {"Word32", 0, UINT32_MAX, "a Word32 is a number from 0 to 4294967295"},
    {"Int8", INT8_MIN, INT8_MAX, "an Int8 is a number from -128 to 127"},
    {"Int16", INT16_MIN, INT16_MAX, "an Int16 is a number from -32768 to 32767"},
    {"Int32", INT32_MIN, INT32_MAX, "an Int32 is a number from -2147483648 to 2147483647"},
};

/* The row of a type, or the number of rows. */
static size_t narrow_row(const CtType *type) {
    size_t row = 0, rows = sizeof narrow / sizeof *narrow;
    while (row < rows && !is_named(type, narrow[row].name)) row++;
    return row;
}

bool ct_value_is_narrow(const CtType *type, int64_t *least, int64_t *most) {
    size_t row = narrow_row(type);
    if (row == sizeof narrow / sizeof *narrow) return false;
    *least = narrow[row].least;
    *most = narrow[row].most;
    return true;
}

/* A whole number, or a Char; false where the type has another order, or the number more than 64 bits. */
static bool whole(const CtType *type, CtWord value, int64_t *number) {
    if (type->kind == TYPE_INT || type->kind == TYPE_CHAR) return *number = value.integer, true;
    if (type->kind != TYPE_DATA || !type->data->is_library) return false;
    if (type->data->is_enum) return *number = value.integer, true; /* Bool, Ordering */
    bool small = ct_core_type_is_integer(type) && value.object->tag == 0;
    bool is_narrow = narrow_row(type) < sizeof narrow / sizeof *narrow;
    if (small || is_narrow) *number = words_of(value)[0].integer;
    return small || is_narrow;
}

/* ---- fractions ---- */

static int64_t greatest_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (int64_t)a;
}

/* The size of an Integer, in digits of 24 bits from the lowest. */
typedef struct Size {
    uint32_t *digits;
    size_t count;
} Size;

static bool size_of(CtWord integer, Size *size) {
    const CtWord *words = words_of(integer);
    const CtArray *large = integer.object->tag == 0 ? NULL : (const CtArray *)words[1].object;
    size_t count = large ? (size_t)large->length : 3;
    uint64_t small = large ? 0 : (uint64_t)words[0].integer;
    if (!large && words[0].integer < 0) small = 0 - small;
    *size = (Size){malloc((count + 1) * sizeof *size->digits), count};
    for (size_t i = 0; size->digits && i < count; i++, small >>= 24)
        size->digits[i] = (uint32_t)((large ? (uint64_t)large->items[i].integer : small) & 0xFFFFFF);
    return size->digits != NULL;
}

static void trim(Size *size) {
    while (size->count > 0 && size->digits[size->count - 1] == 0) size->count--;
}

static bool is_even(const Size *size) { return size->count == 0 || size->digits[0] % 2 == 0; }

/* Makes a number that is not 0 odd. */
static void take_twos(Size *size) {
    size_t zeros = 0;
    while (size->digits[zeros] == 0) zeros++;
    memmove(size->digits, size->digits + zeros, (size->count -= zeros) * sizeof *size->digits);
    int shift = __builtin_ctz(size->digits[0]);
    for (size_t i = 0; shift > 0 && i < size->count; i++) {
        uint32_t next = i + 1 < size->count ? size->digits[i + 1] : 0;
        size->digits[i] = (size->digits[i] >> shift | next << (24 - shift)) & 0xFFFFFF;
    }
    trim(size);
}

static int compare(const Size *a, const Size *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (size_t i = a->count; i-- > 0;)
        if (a->digits[i] != b->digits[i]) return a->digits[i] < b->digits[i] ? -1 : 1;
    return 0;
}

static void subtract(Size *a, const Size *b) {
    uint32_t borrow = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint32_t less = (i < b->count ? b->digits[i] : 0) + borrow;
        borrow = a->digits[i] < less;
        a->digits[i] = a->digits[i] + (borrow << 24) - less;
    }
    trim(a);
}

/* Whether two numbers have no common divisor: the binary algorithm. */
static bool are_coprime(Size *a, Size *b) {
    trim(a);
    trim(b);
    if (is_even(a) && is_even(b)) return false;
    if (a->count == 0 || b->count == 0) { /* 0 and an odd number */
        const Size *other = a->count == 0 ? b : a;
        return other->count == 1 && other->digits[0] == 1;
    }
    take_twos(a);
    take_twos(b);
    for (int order; (order = compare(a, b)) != 0;) {
        Size *larger = order < 0 ? b : a;
        subtract(larger, order < 0 ? a : b);
        take_twos(larger);
    }
    return a->count == 1 && a->digits[0] == 1;
}

static bool are_large_lowest(const CtWord *words) {
    Size above = {0}, below = {0};
    bool lowest = !size_of(words[0], &above) || !size_of(words[1], &below) || are_coprime(&above, &below);
    free(above.digits);
    free(below.digits);
    return lowest;
}

static bool is_lowest(CtType *const *types, const CtWord *words) {
    int64_t above, below;
    bool known = whole(types[1], words[1], &below), integers = ct_core_type_is_integer(types[1]);
    if (!known) /* a large one: its sign is told by its order */
        return !integers || (words_of(words[1])[0].integer == 0 && are_large_lowest(words));
    if (below <= 0) return false;
    if (!whole(types[0], words[0], &above)) return !integers || are_large_lowest(words);
    uint64_t size = above < 0 ? 0 - (uint64_t)above : (uint64_t)above;
    return greatest_divisor(size, (uint64_t)below) == 1;
}

/* ---- arrays with bounds ---- */

/* The number of indices between bounds; false where it is not known, as of a type with an instance of the program's. */
static bool range_size(const CtType *type, CtWord low, CtWord high, uint64_t *size) {
    int64_t from, to;
    if (type->kind == TYPE_TUPLE) {
        bool known = true, overflow = false, none = false;
        *size = 1;
        for (uint32_t i = 0; i < type->count && known; i++) {
            uint64_t part;
            known = range_size(type->parts[i], words_of(low)[i], words_of(high)[i], &part);
            none |= known && part == 0;
            overflow |= known && __builtin_mul_overflow(*size, part, size);
        }
        *size = none ? 0 : overflow ? UINT64_MAX : *size;
        return known;
    }
    if (!whole(type, low, &from) || !whole(type, high, &to)) return false;
    *size = from > to ? 0 : (uint64_t)to - (uint64_t)from + (to != INT64_MAX || from != INT64_MIN);
    return true;
}

static bool fills_bounds(CtType *const *types, const CtWord *words) {
    uint64_t size;
    if (types[0]->kind != TYPE_TUPLE || types[0]->count != 2 || types[1]->kind != TYPE_ARRAY) return true;
    const CtWord *bounds = words_of(words[0]);
    return !range_size(types[0]->parts[0], bounds[0], bounds[1], &size) ||
           size == (uint64_t)((const CtArray *)words[1].object)->length;
}

/* ---- rows ---- */

/* Where rows begin among `length` elements, with the end. */
static bool are_starts(const CtArray *starts, int64_t length) {
    int64_t count = starts->length;
    if (count == 0 || starts->items[0].integer != 0 || starts->items[count - 1].integer != length) return false;
    for (int64_t i = 1; i < count; i++)
        if (starts->items[i].integer < starts->items[i - 1].integer) return false;
    return true;
}

static bool is_sparse(const CtWord *words) {
    int64_t rows = words[0].integer, columns = words[1].integer;
    const CtArray *starts = (const CtArray *)words[2].object, *places = (const CtArray *)words[3].object;
    if (starts->length - 1 != rows || places->length != ((const CtArray *)words[4].object)->length) return false;
    if (!are_starts(starts, places->length)) return false;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = starts->items[i].integer; k < starts->items[i + 1].integer; k++) {
            int64_t least = k > starts->items[i].integer ? places->items[k - 1].integer + 1 : 0;
            if (places->items[k].integer < least || places->items[k].integer >= columns) return false;
        }
    return true;
}

/* ---- trees ---- */

static uint64_t tree_size(CtWord tree) { return tree.object->tag == 0 ? 0 : (uint64_t)words_of(tree)[0].integer; }

bool ct_value_has_related_parts(const CtType *type) {
    return is_named(type, "Ratio") || is_named(type, "Array") || is_named(type, "Ragged") || is_named(type, "Sparse");
}

const char *ct_value_unmade(const CtType *type, CtWord value) {
    if (type->kind != TYPE_DATA || !type->data->is_library || type->data->is_enum) return NULL;
    size_t row = narrow_row(type);
    uint32_t tag = value.object->tag;
    const CtCon *con = &type->data->cons[tag];
    const CtWord *words = con->count > 0 ? words_of(value) : NULL;
    if (row < sizeof narrow / sizeof *narrow) {
        bool fits = words[0].integer >= narrow[row].least && words[0].integer <= narrow[row].most;
        return fits ? NULL : narrow[row].wrong;
    }
    if (is_named(type, "Natural") && con->count == 1 && ct_core_type_is_integer(con->fields[0])) {
        const CtWord *integer = words_of(words[0]); /* the number, or whether a large one is negative */
        bool negative = words[0].object->tag == 0 ? integer[0].integer < 0 : integer[0].integer != 0;
        return negative ? "a Natural is not negative" : NULL;
    }
    if (is_named(type, "Ratio") && con->count == 2)
        return is_lowest(con->fields, words) ? NULL : "a Ratio is in lowest terms, above a positive number";
    if (is_named(type, "Array") && con->count == 2)
        return fills_bounds(con->fields, words) ? NULL : "an Array has as many elements as its bounds have indices";
    if (is_named(type, "Ragged") && con->count == 2) {
        int64_t length = ((const CtArray *)words[1].object)->length;
        return are_starts((const CtArray *)words[0].object, length) ? NULL
                                                                    : "a Ragged begins with where its rows begin";
    }
    if (is_named(type, "Sparse") && con->count == 5 && con->fields[4]->kind == TYPE_ARRAY)
        return is_sparse(words) ? NULL : "a Sparse has rows that begin, and columns that lie, where it says";
    if (is_named(type, "Map") && con->count == 5)
        return (uint64_t)words[0].integer == tree_size(words[1]) + tree_size(words[4]) + 1
                   ? NULL
                   : "a tree begins with the number of its elements";
    return is_named(type, "Seq") && tag > 0 ? "a Seq is written as the tree that it is" : NULL;
}
