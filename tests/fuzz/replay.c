/* Runs a fuzz target on the files that are named: what fuzzing has found stays a test, with any compiler. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
            fprintf(stderr, "%s cannot be read\n", argv[i]);
            return 1;
        }
        long size = ftell(file);
        uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
        rewind(file);
        if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size) return 1;
        fclose(file);
        LLVMFuzzerTestOneInput(data, (size_t)size);
        free(data);
    }
    printf("%d passed, 0 failed\n", argc - 1);
    return 0;
}
