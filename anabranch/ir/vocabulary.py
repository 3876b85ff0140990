"""Words of the language that several readers must know."""

from anabranch.ir.lexer import words

BINARY = words("add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem")
CASTS = words(
    "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast addrspacecast"
    " ptrtoaddr"
)
FLAGS = words(
    "nsw nuw exact disjoint nneg samesign inbounds nusw fast nnan ninf nsz arcp contract afn reassoc"
)
VALUE_WORDS = (
    words(
        "null true false undef poison zeroinitializer none asm splat getelementptr icmp fcmp select"
        " extractelement insertelement shufflevector extractvalue insertvalue fneg blockaddress"
        " dso_local_equivalent no_cfi ptrauth"
    )
    | BINARY
    | CASTS
)
TYPE_ATTRIBUTES = words("byval sret byref preallocated inalloca elementtype")
