/* cotan compile results.cot int --grad -o int
 * cotan compile results.cot polar --vjp --jvp -o polar
 * cotan compile results.cot same --vjp -o same
 * cotan compile results.cot bits -o bits
 * cotan compile results.cot codes -o codes
 * cotan compile results.cot pick --grad -o pick
 * cotan compile results.cot main -o main_
 *
 * cotan grad results.cot int --json --at '[3, 4]'
 * cotan vjp results.cot polar --json --at '[3, 4]' --cotangent '[1, 2]'
 * cotan jvp results.cot polar --json --at '[3, 4]' --tangent '[1, 2]'
 * cotan vjp results.cot same --json --at '[3, 4]' --cotangent '[1, 2]'
 * cotan run results.cot bits --json --args '[[true, false], [1.5], ["a", "x"]]'
 * cotan run results.cot pick --json --args '[[1, 2, 3], 5]'
 * cotan grad results.cot pick --json --at '[[1, 2, 3], -1]'
 * cotan grad results.cot pick --json --at '[[1, 2, 3], 1]'
 * cotan run results.cot --json
 * cotan run results.cot codes --json --args '["a", "\u00e9\ufffd\ufffd\u20ac"]'
 * cotan run results.cot codes --json --args '["a", "\ufffd\ufffd\ufffd|\ufffd\ufffd\ufffd|\ufffd\ufffd\ufffd\ufffd|\ufffd\ufffd"]'
 */
#include <pthread.h>
#include <stdio.h>

#include "bits.h"
#include "codes.h"
#include "int.h"
#include "main_.h"
#include "pick.h"
#include "polar.h"
#include "same.h"

static void put_array(const double *xs, size_t n) {
    printf("[");
    for (size_t i = 0; i < n; i++) printf("%s%.17g", i > 0 ? "," : "", xs[i]);
    printf("]");
}

static void put_error(pick_error e) {
    printf("{\"code\":\"E%04d\",\"line\":%d,\"column\":%d,\"message\":\"%s\"}\n", e.code, e.line, e.column, e.message);
}

/* Each thread with a run of its own, and with none. */
static void *work(void *data) {
    cotan_int_run run = {0};
    double *sum = data, value, a, b;
    for (int i = 0; i < 200; i++) {
        cotan_int_run *here = i % 2 == 0 ? &run : NULL;
        if (cotan_int_grad(here, i, 2, &value, &a, &b).code == 0) *sum += a;
    }
    cotan_int_close(&run);
    return NULL;
}

int main(void) {
    double value, first, second, at[] = {3, 4}, direction[] = {1, 2}, adj[2];
    if (cotan_int_grad(NULL, 3, 4, &value, &first, &second).code != 0) return 1;
    printf("{\"value\":%.17g,\"gradient\":[%.17g,%.17g]}\n", value, first, second);

    polar_run run = {0};
    polar_tuple_double_double point = {3, 4}, tangent = {1, 2}, cotangent;
    polar_array_double result, moved;
    if (polar_vjp(&run, &point, direction, 2, &result, &cotangent).code != 0) return 2;
    printf("{\"value\":");
    put_array(result.data, result.size);
    printf(",\"cotangent\":[%.17g,%.17g]}\n", cotangent.v1, cotangent.v2);
    if (polar_jvp(&run, &point, &tangent, &result, &moved).code != 0) return 3;
    printf("{\"value\":");
    put_array(result.data, result.size);
    printf(",\"tangent\":");
    put_array(moved.data, moved.size);
    printf("}\n");
    polar_close(&run);

    /* a result that is the argument is a copy */
    same_run sames = {0};
    same_array_double copy;
    if (same_vjp(&sames, at, 2, direction, 2, &copy, adj).code != 0 || copy.data == at) return 4;
    printf("{\"value\":");
    put_array(copy.data, copy.size);
    printf(",\"cotangent\":");
    put_array(adj, 2);
    printf("}\n");
    same_close(&sames);

    bits_run bit = {0};
    bool bs[] = {true, false};
    float fs[] = {1.5F};
    uint32_t cs[] = {'a', 'x'};
    bits_tuple_array_bool_array_float_array2_int all;
    if (bits(&bit, bs, 2, fs, 1, cs, 2, &all).code != 0) return 5;
    printf("{\"value\":[[%s,%s],[%.9g],[", all.v1.data[0] ? "true" : "false", all.v1.data[1] ? "true" : "false", (double)all.v2.data[0]);
    for (size_t i = 0; i < all.v3.rows; i++)
        printf("%s[%lld,%lld]", i > 0 ? "," : "", (long long)all.v3.data[2 * i], (long long)all.v3.data[2 * i + 1]);
    printf("]]}\n");
    bits_close(&bit);

    double xs[] = {1, 2, 3}, xs_adj[3];
    pick_run picks = {0};
    put_error(pick(&picks, xs, 3, 5, &value));
    put_error(pick_grad(&picks, xs, 3, -1, &value, xs_adj));
    if (pick_grad(&picks, xs, 3, 1, &value, xs_adj).code != 0) return 6;
    printf("{\"value\":%.17g,\"gradient\":[", value);
    put_array(xs_adj, 3);
    printf(",1]}\n"); /* what is discrete is copied from the point */
    pick_close(&picks);
    picks.memory = 100;
    if (pick_grad(&picks, xs, 3, 1, &value, xs_adj).code != 801) return 7;
    pick_close(&picks);

    int64_t answer;
    if (cotan_main(NULL, &answer).code != 0) return 8;
    printf("{\"value\":%lld}\n", (long long)answer);

    /* texts that are not UTF-8: stray bytes; longer than need be, surrogates, above the last code point, cut off */
    const char *texts[] = {"\xC3\xA9\x80\xFF\xE2\x82\xAC", "\xE0\x80\x80|\xED\xA0\x80|\xF4\x90\x80\x80|\xE2\x82"};
    codes_run code = {0};
    codes_array_int points;
    for (int i = 0; i < 2; i++) {
        if (codes(&code, 'a', texts[i], &points).code != 0) return 11;
        printf("{\"value\":[");
        for (size_t j = 0; j < points.size; j++) printf("%s%lld", j > 0 ? "," : "", (long long)points.data[j]);
        printf("]}\n");
    }
    if (codes(&code, 0x110000, "", &points).code != 601) return 12;
    codes_close(&code);

    pthread_t threads[4];
    double sums[4] = {0};
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, work, &sums[i]) != 0) return 9;
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        if (sums[i] < 99.99 || sums[i] > 100.01) return 10;
    return 0;
}
