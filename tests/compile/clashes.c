/* cotan compile clashes.cot tags --grad -o tags
 * cotan compile clashes.cot swapped -o swapped
 * cotan compile clashes.cot cases -o cases
 * cotan compile clashes.cot nodes --grad --vjp --jvp -o nodes
 * cotan compile clashes.cot shown --grad -o shown
 * cotan compile clashes.cot wide --grad --vjp --jvp -o wide
 *
 * cotan run clashes.cot tags --json --args '[{"A": [3]}, {"C": [5]}]'
 * cotan run clashes.cot swapped --json --args '[{"D": [3]}, {"A": [5]}]'
 * cotan run clashes.cot cases --json --args '["Bx_Cx", "Cx"]'
 * cotan run clashes.cot nodes --json --args '[{"Node": [3]}, {"Xa": [4, 5]}]'
 * cotan run clashes.cot shown --json --args '[{"A": [3]}, 4]'
 * cotan run clashes.cot wide --json --args '[2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]'
 */
#include <stdio.h>

#include "cases.h"
#include "nodes.h"
#include "shown.h"
#include "swapped.h"
#include "tags.h"
#include "wide.h"

static void put(double value, const char *error) {
    if (error[0] != '\0')
        printf("\"%s\"\n", error);
    else
        printf("{\"value\":%.17g}\n", value);
}

int main(void) {
    double value = 0;

    tags_T three = {.tag = tags_T_A, .as.A.v1 = 3};
    tags_T_tag_2 five = {.tag = tags_T_tag_2_C, .as.C.v1 = 5};
    tags_error tags_failed = tags(NULL, &three, &five, &value);
    put(value, tags_failed.message);

    swapped_T_tag first = {.tag = swapped_T_tag_D, .as.D.v1 = 3};
    swapped_T_2 second = {.tag = swapped_T_2_A, .as.A.v1 = 5};
    swapped_error swapped_failed = swapped(NULL, &first, &second, &value);
    put(value, swapped_failed.message);

    cases_error cases_failed = cases(NULL, cases_Pa_Bx_Cx, cases_Pa_Bx_2_Cx, &value);
    put(value, cases_failed.message);

    nodes_Tree node = {.tag = nodes_Tree_Node, .as.Node.v1 = 3};
    nodes_Tree_Node_2 pair = {.tag = nodes_Tree_Node_2_Xa, .as.Xa = {4, 5}};
    nodes_error nodes_failed = nodes(NULL, &node, &pair, &value);
    put(value, nodes_failed.message);

    shown_T some = {.tag = shown_T_A, .as.A.v1 = 3};
    shown_error shown_failed = shown(NULL, &some, 4, &value);
    put(value, shown_failed.message);

    wide_error wide_failed = wide(NULL, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, &value);
    put(value, wide_failed.message);
    return 0;
}
