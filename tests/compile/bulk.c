/* cotan compile bulk.cot layer --grad --method bulk --at '[[[1, 2], [3, 4]], [5, 6], 2]' -o layer
 * cotan compile bulk.cot scan --vjp --jvp --method bulk --at '[0.5, 2, 3]' -o scan
 * cotan compile bulk.cot area --grad --method bulk -o area
 * cotan compile bulk.cot halved --grad --method bulk --at '[1]' -o halved
 *
 * cotan grad bulk.cot layer --json --method bulk --at '[[[0.1, 0.2], [0.3, -0.4]], [0.5, 0.6], 2]'
 * cotan vjp bulk.cot scan --json --method bulk --at '[1, 2, 0.25]' --cotangent '[1, 2, 3, 4]'
 * cotan jvp bulk.cot scan --json --method bulk --at '[1, 2, 0.25]' --tangent '[1, 2, 3]'
 * cotan grad bulk.cot area --json --method bulk --at '[2, 3]'
 * cotan grad bulk.cot halved --json --method bulk --at '[1, 2, 3]'
 */
#include <stdio.h>

#include "area.h"
#include "halved.h"
#include "layer.h"
#include "scan.h"

static void put_array(const double *xs, size_t n) {
    printf("[");
    for (size_t i = 0; i < n; i++) printf("%s%.17g", i > 0 ? "," : "", xs[i]);
    printf("]");
}

static int put_layer(void) {
    double w[] = {0.1, 0.2, 0.3, -0.4}, x[] = {0.5, 0.6}, value;
    layer_run run = {0};
    layer_tuple_array2_double_array_double_int point = {{w, 2, 2}, {x, 2}, 2}, gradient;
    if (layer_grad(&run, &point, &value, &gradient).code != 0) return 1;
    printf("{\"value\":%.17g,\"gradient\":[[", value);
    put_array(gradient.v1.data, 2);
    printf(",");
    put_array(gradient.v1.data + 2, 2);
    printf("],");
    put_array(gradient.v2.data, gradient.v2.size);
    printf(",2]}\n");
    point.v3 = 3; /* as much a part of the shape as a length */
    if (layer_grad(&run, &point, &value, &gradient).code != 504) return 1;
    if (layer(&run, &point, &value).code != 0) return 1; /* the function itself takes all shapes */
    point = (layer_tuple_array2_double_array_double_int){{w, 1, 2}, {x, 2}, 2};
    int code = layer_grad(&run, &point, &value, &gradient).code;
    layer_close(&run);
    return code != 504;
}

static int put_scan(void) {
    double xs[] = {1, 2, 0.25, 7}, dys[] = {1, 2, 3, 4}, dxs[] = {1, 2, 3}, gradient[4];
    scan_run run = {0};
    scan_array_double value, tangent;
    if (scan_vjp(&run, xs, 3, dys, 4, &value, gradient).code != 0) return 1;
    printf("{\"value\":");
    put_array(value.data, value.size);
    printf(",\"cotangent\":");
    put_array(gradient, 3);
    if (scan_jvp(&run, xs, 3, dxs, &value, &tangent).code != 0) return 1;
    printf("}\n{\"value\":");
    put_array(value.data, value.size);
    printf(",\"tangent\":");
    put_array(tangent.data, tangent.size);
    printf("}\n");
    int wrong = scan_vjp(&run, xs, 4, dys, 4, &value, gradient).code != 504;
    wrong += scan_jvp(&run, xs, 2, dxs, &value, &tangent).code != 504;
    wrong += scan_vjp(&run, xs, 3, dys, 3, &value, gradient).code == 0; /* the cotangent's length */
    scan_close(&run);
    return wrong;
}

int main(void) {
    double value, gradient[2], xs[] = {1, 2, 3};
    if (put_layer() != 0) return 1;
    if (put_scan() != 0) return 2;
    area_tuple_double_double at = {2, 3}, slope;
    if (area_grad(NULL, &at, &value, &slope).code != 0) return 3;
    gradient[0] = slope.v1, gradient[1] = slope.v2;
    printf("{\"value\":%.17g,\"gradient\":", value);
    put_array(gradient, 2);
    printf("}\n");
    halved_run run = {0};
    double dxs[3];
    if (halved_grad(&run, xs, 3, &value, dxs).code != 0) return 4;
    printf("{\"value\":%.17g,\"gradient\":", value);
    put_array(dxs, 3);
    printf("}\n");
    halved_close(&run);
    return 0;
}
