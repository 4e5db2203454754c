"""How a program is encoded: one integer per token, the same in Python and in the compiled kernels.

A program is a prefix sequence of tokens. A token is `kind * 65536 + payload`:

    kind       payload                     arity     example
    OPERATOR   opcode, below               1 or 2    ADD, SIN, USER + 0
    POWER      exponent + 32768            1         x ** 5
    VARIABLE   column number               0         the third column
    CONSTANT   0                           0         a number to be fitted
    LITERAL    index in the literal table  0         the 2 in `2 * x`
    SYMBOL     symbol number               0         only inside the rules of a grammar

Constants are numbered by their order in the program, first token first.
"""

OPERATOR = 0
POWER = 1
VARIABLE = 2
CONSTANT = 3
LITERAL = 4
SYMBOL = 5

KIND_SHIFT = 16
PAYLOAD_MASK = 0xFFFF
POWER_OFFSET = 32768

# Binary operators come first: an opcode below FIRST_UNARY takes two arguments.
ADD, SUB, MUL, DIV, MIN, MAX, POW = range(7)
FIRST_UNARY = 7
NEG, INV, SQUARE, CUBE, SQRT, CBRT, EXP, LOG, SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, ABS, SIGN = range(
    7, 26
)
N_OPCODES = 26
# User-defined operators: unary ones count up from USER_UNARY, binary ones from USER_BINARY.
USER_UNARY = 128
USER_BINARY = 192
MAX_USER = 64  # of each arity

MAX_CONSTANTS = 20  # in one program; more can only be an overfit
MAX_PROGRAM_LENGTH = 160  # tokens of one program in a search
