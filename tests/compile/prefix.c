/* cotan compile prefix.cot loss --grad --prefix first_ -o first
 * cotan compile prefix_other.cot loss --grad --prefix second_ -o second
 *
 * cotan grad prefix.cot loss --json --at '[{"slope": 2, "offset": 1}, [1, 3]]'
 * cotan grad prefix_other.cot loss --json --at '[{"Linear": [0.5]}, [1, 3]]'
 *
 * Two programs that give the same names to functions and types are linked together. */
#include <stdio.h>

#include "first.h"
#include "second.h"

int main(void) {
    const double xs[] = {1, 3};
    double value, by_xs[2];

    first_loss_Model line = {.slope = 2, .offset = 1}, by_line;
    first_loss_run run = {0};
    if (first_loss_grad(&run, &line, xs, 2, &value, &by_line, by_xs).code != 0) return 1;
    printf("{\"value\":%.17g,\"gradient\":[{\"slope\":%.17g,\"offset\":%.17g},[%.17g,%.17g]]}\n", value, by_line.slope,
           by_line.offset, by_xs[0], by_xs[1]);
    first_loss_close(&run);

    second_loss_Model linear = {.tag = second_loss_Model_Linear}, *by_linear;
    linear.as.Linear.v1 = 0.5;
    second_loss_run other = {0};
    if (second_loss_grad(&other, &linear, xs, 2, &value, &by_linear, by_xs).code != 0) return 2;
    printf("{\"value\":%.17g,\"gradient\":[{\"Linear\":[%.17g]},[%.17g,%.17g]]}\n", value, by_linear->as.Linear.v1,
           by_xs[0], by_xs[1]);
    second_loss_close(&other);
    return 0;
}
