/* Points drawn at random from a box between two points (cotan check --to). */
#ifndef CT_CLI_REGION_H
#define CT_CLI_REGION_H

#include "cli/cli.h"

struct json_t;

typedef struct Region {
    struct json_t *low, *high;
    uint64_t random;
    bool is_whole; /* numbers that are written without a point in both corners are drawn as whole ones */
} Region;

/* Begins with the corners as JSON and the seed of the options. False, after reporting an error, where they are no JSON
 * or differ in shape. To be ended in any case. */
bool cli_region_begin(Region *region, const Options *options, const char *low, size_t low_length, const char *high,
                      size_t high_length);
/* The next point as JSON: each number lies between those of the corners, and all else is as in both. The caller frees
 * it; NULL where there is no memory. */
char *cli_region_point(Region *region);
void cli_region_end(Region *region);

#endif
