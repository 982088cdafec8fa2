/* cotan compile trees.cot total --grad -o total
 * cotan compile trees.cot rose --grad -o rose
 * cotan compile trees.cot grow -o grow
 * cotan compile trees.cot depth -o depth
 * cotan compile trees.cot room -o room
 *
 * cotan grad trees.cot total --json --at '{"Node":{"left":{"Node":{"left":"Leaf","at":3,"right":"Leaf"}},"at":2,"right":"Leaf"}}'
 * cotan grad trees.cot rose --json --at '{"Rose":[1,[{"Rose":[2,[]]},{"Rose":[3,[]]}]]}'
 * cotan run trees.cot grow --json --args '[2, "Blue", {"Just": [2.5]}, "aß€"]'
 * cotan run trees.cot grow --json --args '[0, "Red", "Nothing", ""]'
 */
#include <stdio.h>

#include "depth.h"
#include "grow.h"
#include "room.h"
#include "rose.h"
#include "total.h"

static void put_tree(const total_Tree *t) {
    if (t->tag == total_Tree_Leaf) {
        printf("\"Leaf\"");
        return;
    }
    printf("{\"Node\":{\"left\":");
    put_tree(t->as.Node.left);
    printf(",\"at\":%.17g,\"right\":", t->as.Node.at);
    put_tree(t->as.Node.right);
    printf("}}");
}

static void put_rose(const rose_Rose *r) {
    printf("{\"Rose\":[%.17g,[", r->v1);
    for (size_t i = 0; i < r->v2.size; i++) {
        if (i > 0) printf(",");
        put_rose(&r->v2.data[i]);
    }
    printf("]]}");
}

static void put_grown(const grow_Tree *t) {
    if (t->tag == grow_Tree_Leaf) {
        printf("\"Leaf\"");
        return;
    }
    printf("{\"Node\":{\"left\":");
    put_grown(t->as.Node.left);
    printf(",\"at\":%.17g,\"right\":", t->as.Node.at);
    put_grown(t->as.Node.right);
    printf("}}");
}

static void put_colours(const grow_list_Colour *colours) {
    static const char *const names[] = {"Red", "Green", "Blue"};
    printf("[");
    for (size_t i = 0; i < colours->size; i++) printf("%s\"%s\"", i > 0 ? "," : "", names[colours->data[i]]);
    printf("]");
}

static int grown(grow_run *run, int64_t n, grow_Colour colour, const grow_Maybe_Double *maybe, const char *text) {
    grow_tuple_Tree_list_Colour_text result;
    grow_error e = grow(run, n, colour, maybe, text, &result);
    if (e.code != 0) return e.code;
    printf("{\"value\":[");
    put_grown(result.v1);
    printf(",");
    put_colours(&result.v2);
    printf(",\"%s\"]}\n", result.v3);
    return 0;
}

int main(void) {
    total_Tree leaf = {.tag = total_Tree_Leaf}, inner = {.tag = total_Tree_Node}, top = {.tag = total_Tree_Node}, *t_adj;
    inner.as.Node.left = inner.as.Node.right = top.as.Node.right = &leaf;
    inner.as.Node.at = 3;
    top.as.Node.left = &inner;
    top.as.Node.at = 2;
    double value;
    total_run run = {0};
    if (total_grad(&run, &top, &value, &t_adj).code != 0) return 1;
    printf("{\"value\":%.17g,\"gradient\":", value);
    put_tree(t_adj);
    printf("}\n");
    inner.as.Node.right = NULL;
    if (total(&run, &top, &value).code != 601) return 2;
    inner.tag = (total_Tree_tag)7;
    if (total(&run, &top, &value).code != 601) return 3;
    total_close(&run);

    rose_Rose kids[] = {{2, {NULL, 0}}, {3, {NULL, 0}}}, bush = {1, {kids, 2}}, adj;
    rose_run roses = {0};
    if (rose_grad(&roses, &bush, &value, &adj).code != 0) return 4;
    printf("{\"value\":%.17g,\"gradient\":", value);
    put_rose(&adj);
    printf("}\n");
    rose_close(&roses);

    grow_run grows = {0};
    grow_Maybe_Double just = {.tag = grow_Maybe_Double_Just}, nothing = {.tag = grow_Maybe_Double_Nothing};
    just.as.Just.v1 = 2.5;
    if (grown(&grows, 2, grow_Colour_Blue, &just, "a\xc3\x9f\xe2\x82\xac") != 0) return 5;
    if (grown(&grows, 0, grow_Colour_Red, &nothing, "") != 0) return 6;
    /* text that is no UTF-8; a colour that is none */
    if (grown(&grows, 0, (grow_Colour)3, &nothing, "") != 601) return 7;
    grow_tuple_Tree_list_Colour_text result;
    if (grow(&grows, 0, grow_Colour_Red, &nothing, "\xff\xc3", &result).code != 0) return 8;
    const char *expected = "\xef\xbf\xbd\xef\xbf\xbdNothing";
    for (int i = 0; expected[i] != '\0' || result.v3[i] != '\0'; i++)
        if (expected[i] != result.v3[i]) return 9;
    grow_close(&grows);

    /* recursion deeper than the stack that it may use, then a shallow one with the same run; limits on memory */
    depth_run deep = {.stack = 1 << 16};
    if (depth(&deep, 100000000, &value).code != 801) return 10;
    if (depth(&deep, 100, &value).code != 0 || value < 99 || value > 101) return 11;
    depth_close(&deep);

    /* a limit holds for what a call without one has left */
    room_run narrow = {.memory = 4 << 20};
    for (int i = 0; i < 3; i++) {
        narrow.memory = i == 1 ? 0 : 4 << 20;
        if (room(&narrow, 1000000, i == 1 ? 1000 : 4000000, &value).code != (i == 1 ? 0 : 801)) return 12;
    }
    room_close(&narrow);
    return 0;
}
