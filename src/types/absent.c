/* Suggestions for names that exist in Haskell or in other languages, but not here: what to write instead. */
#include "types/internal.h"

typedef struct Absent {
    const char *names; /* each between blanks */
    const char *help;
} Absent;

static const Absent values[] = {
    {" hPutStrLn hPutStr hPrint hFlush hSetBuffering stdout stderr stdin hGetLine hGetContents ",
     "the library has it: import System.IO"},
    {" exitWith exitFailure exitSuccess ", "the library has it: import System.Exit"},
    {" getArgs getProgName ", "the library has it: import System.Environment"},
    {" newIORef readIORef writeIORef modifyIORef newSTRef runST runSTArray ",
     "there is no mutable state: pass the state along, or write a State monad; arrays are updated in place by `update` "
     "when nobody else holds them"},
    {" throwIO try evaluate bracket finally handle ", "the library has it: import Control.Exception"},
    {" catchIOError tryIOError isDoesNotExistError isEOFError isUserError ioeGetErrorString ",
     "the library has it: import System.IO.Error"},
    {" unsafePerformIO throw ",
     "what an expression fails with cannot be caught: use Maybe or Either for what may fail"},
    {" foldr' ", "evaluation is strict: `foldr`"},
    {" len size count ", "`length` tells how many elements a list or an array has"},
    {" sqr square ", "`x ^ 2` or `x * x`"},
    {" ln ", "the natural logarithm is `log`"},
    {" arctan arcsin arccos ", "the inverse functions are `asin`, `acos`, `atan` and `atan2`"},
    {" average ", "the library has `mean`: import Statistics"},
    {" true false ", "the truth values are `True` and `False`"},
    {" null' nil none None undefined' ", "an empty list is `[]`, a missing value `Nothing`"},
    {" != <> ~= !== ", "two values differ: `x /= y`"},
    {" += -= *= /= ", "values do not change: a new value has a new name"},
    {" ? ", "a choice is `if c then x else y`"},
    {" lambda ", "a function without a name is written \\x -> …"},
    {" === ", "two values are equal: `x == y`"},
    {" & ", "two conditions are joined by `&&`; bits by `.&.`"},
    {" % ", "the remainder of whole numbers is `mod`: n `mod` 2"},
    {" =< ", "less or equal is `<=`"},
    {" => ", "greater or equal is `>=`"},
    {" ! !. ", "a condition is negated by `not`"},
    {" println console echo puts display ",
     "`putStrLn` writes a line and `print` a value, in an action; `cotan run` prints the value of any other `main`"},
    {" pow ", "a power is `x ^ n` for a whole n, `x ** y` for any y"},
    {" fabs ", "the absolute value is `abs`"},
    {" str toString to_string ", "`show` makes a String of a value"},
    {" float double toFloat ", "`fromIntegral` makes a Double of an Int"},
    {" int toInt' ", "`round`, `floor`, `ceiling` and `truncate` make an Int of a Double"},
    {" range ", "the numbers from 0 to n - 1 are `[0 .. n - 1]`, or the array `iota n`"},
    {" append' push push_back ", "`xs ++ [x]` is a list with one element more, `snoc a x` such an array"},
    {" map2 ", "`zipWith f xs ys` applies a function of two arguments to two lists or arrays"},
    {" map3 ", "`zipWith3 f xs ys zs` applies a function of three arguments to three lists or arrays"},
    {" reduce' fold ", "`foldl f z xs` goes through a list or an array from the left"},
    {" self this ", "there are no objects: what a function works on is one of its parameters"},
    {" elif elseif elsif ", "`else if`, as two words"},
    {" for while foreach ", "there are no loops: `map`, `foldl` and recursion do their work"},
};

static const Absent types_[] = {
    {" Word Word8 Word16 Word32 Word64 ", "the library has it: import Data.Word"},
    {" Int8 Int16 Int32 Int64 ", "the library has it: import Data.Int"},
    {" Natural ", "the integer types are Int, of 64 bits, and Integer, without bounds"},
    {" Text ByteString ", "texts are String, which is [Char]"},
    {" IORef ST STRef STArray MVar ", "there is no mutable state: pass the state along, or write a State monad"},
    {" Map Set ", "the library has it: import Data.Map (Map), import Data.Set (Set)"},
    {" Vector UArray Matrix Seq ", "arrays are `Array a`, matrices `Array (Array a)`"},
    {" float double Real' Number ", "real numbers are Double (or Float)"},
    {" int integer ", "whole numbers are Int or Integer"},
    {" bool boolean Boolean ", "truth values are Bool"},
    {" string str Str ", "texts are String"},
    {" char ", "characters are Char"},
    {" List ", "a list of elements of a type a is `[a]`"},
};

static const Absent constructors[] = {
    {" Some ", "a value that may be missing is `Just x`"},
    {" None Null NULL Nil NaN Undefined ", "a missing value is `Nothing`, an empty list `[]`"},
    {" Ok Success ", "`Right x` is a result, `Left e` an error"},
    {" Err Error Failure ", "`Left e` is an error, `Right x` a result"},
    {" TRUE FALSE ", "the truth values are `True` and `False`"},
};

static const char *find(const Absent *rows, size_t count, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < count; i++)
        for (const char *at = rows[i].names; (at = strstr(at, name)) != NULL; at++)
            if (at[-1] == ' ' && at[length] == ' ') return rows[i].help;
    return NULL;
}

const char *ct_types_absent(CtSpace space, CtSym name) {
    switch (space) {
    case SPACE_VALUE: return find(values, sizeof values / sizeof *values, name->text);
    case SPACE_TYPE: return find(types_, sizeof types_ / sizeof *types_, name->text);
    case SPACE_CLASS: return strcmp(name->text, "Ix") == 0 ? "the library has it: import Data.Ix" : NULL;
    case SPACE_CON: return find(constructors, sizeof constructors / sizeof *constructors, name->text);
    case SPACE_FIELD:
    case SPACE_COUNT: return NULL;
    }
    return NULL;
}
