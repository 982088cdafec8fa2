/* cotan check --to: points drawn at random from a region, a box between two points. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/region.h"

/* A whole number between two, both included. */
static json_int_t draw_whole(Region *region, json_int_t least, json_int_t most) {
    uint64_t width = (uint64_t)most - (uint64_t)least; /* where it is great, one more or less is of no matter */
    double at = cli_random(&region->random) * ((double)width + 1);
    uint64_t steps = at < 0x1p64 ? (uint64_t)at : width;
    return (json_int_t)((uint64_t)least + (steps < width ? steps : width));
}

static json_t *draw_number(Region *region, const json_t *low, const json_t *high) {
    if (region->is_whole && json_is_integer(low) && json_is_integer(high)) {
        json_int_t a = json_integer_value(low), b = json_integer_value(high);
        return json_integer(a < b ? draw_whole(region, a, b) : draw_whole(region, b, a));
    }
    double a = json_number_value(low), b = json_number_value(high), t = cli_random(&region->random);
    return json_real(a * (1 - t) + b * t);
}

/* Any number between two equal ones, of which one may be an integer: the other tells that a Double is meant. */
static json_t *same_number(const json_t *low, const json_t *high) {
    return json_deep_copy(json_is_integer(low) ? high : low);
}

/* Integers are compared as such: neighbours near the ends of Int are one Double. */
static bool are_different(const json_t *low, const json_t *high) {
    if (json_is_integer(low) && json_is_integer(high)) return json_integer_value(low) != json_integer_value(high);
    return json_number_value(low) != json_number_value(high);
}

/* NULL where the two points differ in shape, or memory runs out. */
static json_t *between(Region *region, const json_t *low, const json_t *high) {
    if (json_is_number(low) && json_is_number(high))
        return are_different(low, high) ? draw_number(region, low, high) : same_number(low, high);
    if (json_is_array(low) && json_is_array(high) && json_array_size(low) == json_array_size(high)) {
        json_t *found = json_array();
        bool fits = found != NULL;
        for (size_t i = 0; fits && i < json_array_size(low); i++)
            fits = json_array_append_new(found, between(region, json_array_get(low, i), json_array_get(high, i))) == 0;
        if (fits) return found;
        json_decref(found);
        return NULL;
    }
    if (json_is_object(low) && json_is_object(high) && json_object_size(low) == json_object_size(high)) {
        json_t *found = json_object();
        bool fits = found != NULL;
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)low, key, value) {
            const json_t *other = json_object_get(high, key);
            fits = fits && other != NULL && json_object_set_new(found, key, between(region, value, other)) == 0;
        }
        if (fits) return found;
        json_decref(found);
        return NULL;
    }
    return json_equal(low, high) ? json_deep_copy(low) : NULL;
}

static json_t *parse(const Options *options, const char *name, const char *text, size_t length) {
    json_error_t error;
    json_t *json = json_loadb(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (json == NULL) cli_refuse(options, "E0602", "%s: a corner of a region is JSON: %s", name, error.text);
    return json;
}

bool cli_region_begin(Region *region, const Options *options, const char *low, size_t low_length, const char *high,
                      size_t high_length) {
    *region = (Region){.random = options->seed};
    region->low = parse(options, "--at", low, low_length);
    region->high = region->low == NULL ? NULL : parse(options, "--to", high, high_length);
    if (region->high == NULL) return false;
    Region tried = *region;
    json_t *point = between(&tried, tried.low, tried.high);
    if (point == NULL) cli_refuse(options, "E0601", "--to: the corners of a region differ in more than their numbers");
    json_decref(point);
    return point != NULL;
}

char *cli_region_point(Region *region) {
    json_t *point = between(region, region->low, region->high);
    char *text = point == NULL ? NULL : json_dumps(point, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(point);
    return text;
}

void cli_region_end(Region *region) {
    json_decref(region->low);
    json_decref(region->high);
}
