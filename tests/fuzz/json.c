/* Fuzzing JSON: any bytes as the arguments of a function. What is read is written, and reads back to the same text. */
#include <stdlib.h>
#include <string.h>

#include "values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    unsigned which = data[0];
    char *text = malloc(size);
    if (text == NULL) abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    bool binary = text[0] == 'P' || (unsigned char)text[0] == 0x93; /* the other target's */
    cotan_result result;
    if (!binary && fuzz_value(which, text, size - 1, COTAN_NO_FILE, &result) && which % 12 != 11) {
        size_t length = strlen(result.value) + 3;
        char *again = malloc(length), *first = strdup(result.value);
        if (again == NULL || first == NULL) abort();
        again[0] = '[';
        memcpy(again + 1, first, length - 3);
        memcpy(again + length - 2, "]", 2);
        if (!fuzz_value(which, again, length - 1, COTAN_NO_FILE, &result) || strcmp(first, result.value) != 0) abort();
        free(first);
        free(again);
    }
    free(text);
    return 0;
}
