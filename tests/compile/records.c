/* cotan compile records.cot loss --grad --vjp --jvp -o loss
 * cotan compile records.cot wide --grad --jvp -o wide
 *
 * cotan grad records.cot loss --json --at '[{"weights":[[1,2,3],[4,5,6]],"bias":0.25,"double":[[1.5,2],[2,3],[3,1]]},[0.5,-1.5],[[1,2],[3,4]]]'
 * cotan grad records.cot loss --json --at '[{"weights":[[1,2,3],[4,5,6]],"bias":0.25,"double":[[1.5,2],[2,3],[3,1]]},[0.5],[[1,2],[3,4]]]'
 * cotan grad records.cot loss --json --at '[{"weights":[],"bias":0.25,"double":[]},[],[]]'
 * cotan run records.cot loss --json --args '[{"weights":[[1,2,3],[4,5,6]],"bias":0.25,"double":[[1.5,2],[2,3],[3,1]]},[0.5,-1.5],[[1,2],[3,4]]]'
 * cotan vjp records.cot loss --json --cotangent 2 --at '[{"weights":[[1,2,3],[4,5,6]],"bias":0.25,"double":[[1.5,2],[2,3],[3,1]]},[0.5,-1.5],[[1,2],[3,4]]]'
 * cotan jvp records.cot loss --json --at '[{"weights":[[1,2,3],[4,5,6]],"bias":0.25,"double":[[1.5,2],[2,3],[3,1]]},[0.5,-1.5],[[1,2],[3,4]]]' --tangent '[{"weights":[[1,0,3],[0,5,6]],"bias":1,"double":[[1,2],[0,3],[3,1]]},[0.5,-1],[[1,0],[0,4]]]'
 * cotan grad records.cot wide --json --at '[[1,2,3,4,5,6,7],[8,9,1,2,3,4,5]]'
 * cotan jvp records.cot wide --json --at '[[1,2,3,4,5,6,7],[8,9,1,2,3,4,5]]' --tangent '[[1,0,0,0,0,0,0],[0,0,0,0,0,0,2]]'
 */
#include <stdio.h>

#include "loss.h"
#include "wide.h"

static void put_model(const loss_Model *m) {
    printf("{\"weights\":[");
    for (size_t i = 0; i < m->weights.rows; i++) {
        printf("%s[", i > 0 ? "," : "");
        for (size_t j = 0; j < m->weights.columns; j++)
            printf("%s%.17g", j > 0 ? "," : "", m->weights.data[i * m->weights.columns + j]);
        printf("]");
    }
    printf("],\"bias\":%.17g,\"double\":[", m->bias);
    for (size_t i = 0; i < m->double_.size; i++)
        printf("%s[%.17g,%lld]", i > 0 ? "," : "", m->double_.data[i].v1, (long long)m->double_.data[i].v2);
    printf("]}");
}

static void put(loss_error e, double value, const char *name, const loss_Model *m, const double *xs, size_t n,
                const loss_tuple_double_double *ps, size_t k) {
    if (e.code != 0) {
        printf("{\"code\":\"E%04d\",\"line\":%d,\"column\":%d,\"message\":\"%s\"}\n", e.code, e.line, e.column, e.message);
        return;
    }
    printf("{\"value\":%.17g,\"%s\":[", value, name);
    put_model(m);
    printf(",[");
    for (size_t i = 0; i < n; i++) printf("%s%.17g", i > 0 ? "," : "", xs[i]);
    printf("],[");
    for (size_t i = 0; i < k; i++) printf("%s[%.17g,%.17g]", i > 0 ? "," : "", ps[i].v1, ps[i].v2);
    printf("]]}\n");
}

static void put_wide(const wide_tuple_double_double_double_double_double *t) {
    printf("[%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g]", t->v1, t->v2, t->v3, t->v4, t->v5, t->v6, t->v7);
}

int main(void) {
    double w[] = {1, 2, 3, 4, 5, 6}, dw[] = {1, 0, 3, 0, 5, 6}, xs[] = {0.5, -1.5}, dxs[] = {0.5, -1}, xs_adj[2], value = 0, tangent;
    loss_tuple_double_int d[] = {{1.5, 2}, {2, 3}, {3, 1}}, dd[] = {{1, 2}, {0, 3}, {3, 1}};
    loss_tuple_double_double ps[] = {{1, 2}, {3, 4}}, dps[] = {{1, 0}, {0, 4}}, ps_adj[2];
    loss_Model m = {{w, 2, 3}, 0.25, {d, 3}}, dm = {{dw, 2, 3}, 1, {dd, 3}}, empty = {{NULL, 0, 0}, 0.25, {NULL, 0}}, m_adj;
    loss_run run = {0};
    loss_error e = loss_grad(&run, &m, xs, 2, ps, 2, &value, &m_adj, xs_adj, ps_adj);
    put(e, value, "gradient", &m_adj, xs_adj, 2, ps_adj, 2);
    e = loss_grad(&run, &m, xs, 1, ps, 2, &value, &m_adj, xs_adj, ps_adj);
    put(e, value, "gradient", &m_adj, xs_adj, 1, ps_adj, 2);
    e = loss_grad(&run, &empty, NULL, 0, NULL, 0, &value, &m_adj, NULL, NULL);
    put(e, value, "gradient", &m_adj, xs_adj, 0, ps_adj, 0);
    e = loss(NULL, &m, xs, 2, ps, 2, &value);
    printf("{\"value\":%.17g}\n", e.code == 0 ? value : 0);
    e = loss_vjp(&run, &m, xs, 2, ps, 2, 2, &value, &m_adj, xs_adj, ps_adj);
    put(e, value, "cotangent", &m_adj, xs_adj, 2, ps_adj, 2);
    e = loss_jvp(NULL, &m, xs, 2, ps, 2, &dm, dxs, dps, &value, &tangent);
    printf("{\"value\":%.17g,\"tangent\":%.17g}\n", value, e.code == 0 ? tangent : 0);
    loss_close(&run);
    loss_close(&run);

    wide_tuple_double_double_double_double_double a = {1, 2, 3, 4, 5, 6, 7}, b = {8, 9, 1, 2, 3, 4, 5}, da = {1, 0, 0, 0, 0, 0, 0},
                                                  db = {0, 0, 0, 0, 0, 0, 2}, a_adj, b_adj;
    wide_error f = wide_grad(NULL, &a, &b, &value, &a_adj, &b_adj);
    printf("{\"value\":%.17g,\"gradient\":[", f.code == 0 ? value : 0);
    put_wide(&a_adj);
    printf(",");
    put_wide(&b_adj);
    printf("]}\n");
    f = wide_jvp(NULL, &a, &b, &da, &db, &value, &tangent);
    printf("{\"value\":%.17g,\"tangent\":%.17g}\n", value, f.code == 0 ? tangent : 0);
    /* what is not wanted; a run that is needed; an argument that is missing */
    if (wide_grad(NULL, &a, &b, NULL, NULL, NULL).code != 0) return 1;
    if (loss_grad(NULL, &m, xs, 2, ps, 2, &value, &m_adj, xs_adj, ps_adj).code != 601) return 2;
    if (loss(NULL, &m, NULL, 2, ps, 2, &value).code != 601) return 3;
    return 0;
}
