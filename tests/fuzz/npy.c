/* Fuzzing .npy and .npz: any bytes as a file. What is read is written as a file again, and reads back to the same
 * value. */
#include <stdlib.h>
#include <string.h>

#include "values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of an array behind the magic, or those of an archive: most inputs should come past the first look. */
static char *file_of(const uint8_t *data, size_t size, size_t *length) {
    static const char magic[] = "\x93NUMPY";
    bool archive = data[0] & 0x80;
    *length = size - 1 + (archive ? 0 : 6);
    char *file = malloc(*length + 1);
    if (file == NULL) abort();
    if (!archive) memcpy(file, magic, 6);
    if (size > 1) memcpy(file + *length - (size - 1), data + 1, size - 1);
    file[*length] = '\0';
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    unsigned which = data[0] & 0x7F;
    size_t length;
    char *file = file_of(data, size, &length);
    bool sound = (file[0] == 'P' && file[1] == 'K') || (unsigned char)file[0] == 0x93;
    cotan_result result;
    if (sound && fuzz_value(which, file, length, COTAN_NPZ, &result)) {
        char *again = malloc(result.file_length), *value = strdup(result.value);
        if (again == NULL || value == NULL) abort();
        memcpy(again, result.file, result.file_length);
        if (!fuzz_value(which, again, result.file_length, COTAN_NO_FILE, &result)) abort();
        if (strcmp(value, result.value) != 0) abort();
        free(again);
        free(value);
    }
    free(file);
    return 0;
}
