/* Printing of types. Type variables keep their names from the source; the others are named a, b, … in order of
 * appearance (constructor variables t, u, …), and no two variables get the same name. Of a very large type only the
 * beginning is printed. */
#include "types/internal.h"

enum { LONGEST = 20000, LONGEST_IN_MESSAGES = 600 }; /* bytes */

typedef struct Printer {
    CtTypes *types;
    CtText *out;
    CtMap names; /* CtTy * -> const char * */
    CtMap taken; /* CtSym -> itself */
    CT_VEC(CtTy *) order;
    uint32_t next, next_con;
    uint32_t left; /* number of nodes that may still be searched for variables */
    size_t end;    /* the length of text at which printing stops */
} Printer;

static void collect(Printer *printer, CtTy *type) {
    for (;;) {
        type = ct_types_ty_resolve(type);
        if (!type->has_var || printer->left == 0) return;
        printer->left--;
        if (type->kind == TY_APP) {
            collect(printer, type->fun);
            type = type->arg;
            continue;
        }
        if ((type->kind != TY_META && type->kind != TY_GENERIC) || ct_map_has(&printer->names, ct_key(type))) return;
        ct_map_set(printer->types->arena, &printer->names, ct_key(type), NULL);
        ct_push(printer->types->arena, &printer->order, type);
        for (const CtPred *pred = type->preds; pred; pred = pred->next)
            for (uint32_t i = 0; pred->others && i < pred->class_->other_count; i++) collect(printer, pred->others[i]);
        return;
    }
}

static CtSym fresh(Printer *printer, bool constructor) {
    for (;;) {
        uint32_t n = constructor ? printer->next_con++ : printer->next++;
        const char *alphabet = constructor ? "tuvw" : "abcdefghijklmnopqrs";
        uint32_t letters = constructor ? 4 : 19;
        char text[16] = {alphabet[n % letters], 0};
        uint32_t length = 1;
        char digits[12];
        uint32_t used = 0;
        for (uint32_t round = n / letters; round > 0; round /= 10) digits[used++] = (char)('0' + round % 10);
        while (used) text[length++] = digits[--used];
        CtSym name = ct_intern(&printer->types->context->symbols, text, length);
        if (!ct_map_has(&printer->taken, ct_key(name))) return name;
    }
}

static void name_all(Printer *printer) {
    CtArena *arena = printer->types->arena;
    for (uint32_t i = 0; i < printer->order.count; i++) {
        CtTy *type = printer->order.items[i];
        if (type->kind != TY_GENERIC || type->made || ct_map_has(&printer->taken, ct_key(type->name))) continue;
        ct_map_set(arena, &printer->names, ct_key(type), (void *)(uintptr_t)type->name->text);
        ct_map_set(arena, &printer->taken, ct_key(type->name), NULL);
    }
    for (uint32_t i = 0; i < printer->order.count; i++) {
        CtTy *type = printer->order.items[i];
        if (ct_map_get(&printer->names, ct_key(type))) continue;
        CtSym name = fresh(printer, type->arity > 0);
        ct_map_set(arena, &printer->taken, ct_key(name), NULL);
        ct_map_set(arena, &printer->names, ct_key(type), (void *)(uintptr_t)name->text);
    }
}

static void print(Printer *printer, CtTy *type, int precedence);

static void print_tuple(Printer *printer, CtTy *type, uint32_t size) {
    CtTy **args = CT_NEW_ARRAY(printer->types->arena, CtTy *, size);
    CtTyCon *con;
    uint32_t count;
    ct_types_ty_head(type, &con, args, size, &count);
    ct_text_putc(printer->out, '(');
    for (uint32_t i = 0; i < size && printer->out->length <= printer->end; i++) {
        if (i) ct_text_puts(printer->out, ", ");
        print(printer, args[i], 0);
    }
    ct_text_putc(printer->out, ')');
}

/* Lists, tuples and strings have their own syntax. */
static bool print_special(Printer *printer, CtTy *type) {
    CtTypes *types = printer->types;
    CtTy *args[1] = {NULL};
    CtTyCon *con;
    uint32_t count;
    if (!ct_types_ty_head(type, &con, args, 1, &count) || count != con->arity) return false;
    if (con == types->list) {
        CtTy *element = ct_types_ty_resolve(args[0]);
        if (element->kind == TY_CON && element->con == types->char_) {
            ct_text_puts(printer->out, "String");
            return true;
        }
        ct_text_putc(printer->out, '[');
        print(printer, element, 0);
        ct_text_putc(printer->out, ']');
        return true;
    }
    if (count < 2 || count >= types->tuples.count || types->tuples.items[count] != con) return false;
    print_tuple(printer, type, count);
    return true;
}

/* The parameters of a class in their order, `name` for the one that the constraint is on. */
static void print_parameters(Printer *printer, CtText *text, const CtPred *pred, const char *name) {
    const CtClass *class_ = pred->class_;
    CtText *out = printer->out;
    printer->out = text;
    for (uint32_t i = 0; i <= class_->other_count; i++) {
        ct_text_putc(text, ' ');
        if (i == class_->place)
            ct_text_puts(text, name);
        else if (pred->others)
            print(printer, pred->others[i - (i > class_->place)], 2);
    }
    printer->out = out;
}

/* A type of higher rank, with the names of its variables as they are written. */
static void print_forall(Printer *printer, CtTy *type) {
    CtTypes *types = printer->types;
    CtScheme scheme = ct_types_poly_scheme(types, type);
    CtText *out = printer->out, context = ct_text(types->arena);
    uint32_t count = 0;
    ct_text_puts(out, "(forall");
    for (uint32_t i = 0; i < scheme.count; i++) {
        const char *name = scheme.generics[i]->name->text;
        ct_map_set(types->arena, &printer->names, ct_key(scheme.generics[i]), (void *)(uintptr_t)name);
        ct_text_printf(out, " %s", name);
        for (const CtPred *pred = scheme.generics[i]->preds; pred; pred = pred->next) {
            ct_text_printf(&context, "%s%s", count++ ? ", " : "", pred->class_->name->text);
            print_parameters(printer, &context, pred, name);
        }
    }
    ct_text_puts(out, ". ");
    if (count) ct_text_printf(out, count > 1 ? "(%s) => " : "%s => ", context.data);
    print(printer, scheme.type, 0);
    ct_text_putc(out, ')');
}

/* Prints a type with parentheses as its context needs them. precedence 0: any context; 1: left of an arrow; 2: an
 * argument. */
static void print(Printer *printer, CtTy *type, int precedence) {
    CtText *out = printer->out;
    type = ct_types_ty_resolve(type);
    CtTy *arg, *result;
    if (out->length > printer->end) {
        ct_text_puts(out, "…");
        return;
    }
    if (ct_types_ty_is_fun(printer->types, type, &arg, &result)) {
        if (precedence > 0) ct_text_putc(out, '(');
        do {
            print(printer, arg, 1);
            ct_text_puts(out, " -> ");
            type = result;
        } while (out->length <= printer->end && ct_types_ty_is_fun(printer->types, type, &arg, &result));
        print(printer, type, 0);
        if (precedence > 0) ct_text_putc(out, ')');
        return;
    }
    if (ct_types_poly_head(type, NULL)) {
        print_forall(printer, type);
        return;
    }
    switch (type->kind) {
    case TY_META:
    case TY_GENERIC: {
        const char *name = ct_map_get(&printer->names, ct_key(type));
        ct_text_puts(out, name ? name : "_");
        return;
    }
    case TY_CON: {
        const char *name = type->is_error ? "_" : type->con->name->text;
        bool infix = name[0] == '-' || name[0] == ':';
        ct_text_printf(out, infix ? "(%s)" : "%s", name);
        return;
    }
    case TY_APP:
        if (print_special(printer, type)) return;
        if (precedence > 1) ct_text_putc(out, '(');
        print(printer, type->fun, 1);
        ct_text_putc(out, ' ');
        print(printer, type->arg, 2);
        if (precedence > 1) ct_text_putc(out, ')');
        return;
    }
}

/* Whether another constraint of the same variable implies this one, which is then not printed. */
static bool implied(const CtTy *type, const CtPred *pred) {
    for (const CtPred *other = type->preds; other; other = other->next)
        if (other != pred && ct_types_class_implies(other->class_, pred->class_)) return true;
    return false;
}

static void print_context(Printer *printer) {
    CtText context = ct_text(printer->types->arena);
    uint32_t count = 0;
    for (uint32_t i = 0; i < printer->order.count; i++) {
        const CtTy *type = printer->order.items[i];
        for (const CtPred *pred = type->preds; pred; pred = pred->next) {
            if (implied(type, pred)) continue;
            const char *name = ct_map_get(&printer->names, ct_key(type));
            ct_text_printf(&context, "%s%s", count++ ? ", " : "", pred->class_->name->text);
            print_parameters(printer, &context, pred, name);
        }
        CtText *out = printer->out;
        printer->out = &context;
        for (const CtApplied *one = ct_types_applied(printer->types, type); one; one = one->next) {
            ct_text_printf(&context, "%s%s (", count++ ? ", " : "", one->class_->name->text);
            print(printer, one->type, 0);
            ct_text_putc(&context, ')');
        }
        printer->out = out;
    }
    if (count) ct_text_printf(printer->out, count > 1 ? "(%s) => " : "%s => ", context.data);
}

void ct_types_ty_print(CtText *out, CtTypes *types, CtTy *type, bool preds) {
    Printer printer = {.types = types, .out = out, .left = LONGEST, .end = out->length + LONGEST};
    collect(&printer, type);
    name_all(&printer);
    if (preds) print_context(&printer);
    print(&printer, type, 0);
}

void ct_types_scheme_print(CtText *out, CtTypes *types, const CtScheme *scheme) {
    ct_types_ty_print(out, types, scheme->type ? scheme->type : types->error, true);
}

void ct_types_ty_texts(CtTypes *types, CtTy **list, uint32_t count, const char **texts) {
    Printer printer = {.types = types, .end = LONGEST_IN_MESSAGES};
    for (uint32_t i = 0; i < count; i++) {
        printer.left = LONGEST;
        collect(&printer, list[i]);
    }
    name_all(&printer);
    for (uint32_t i = 0; i < count; i++) {
        CtText text = ct_text(types->arena);
        printer.out = &text;
        print(&printer, list[i], 0);
        texts[i] = text.data;
    }
}

const char *ct_types_ty_text(CtTypes *types, CtTy *type) {
    const char *text;
    ct_types_ty_texts(types, &type, 1, &text);
    return text;
}
