/** Texts in another language: the same keys, and functions of the same parameters. */
export type Translated<Texts> = Texts extends string
  ? string
  : Texts extends (...given: infer Given) => infer Said
    ? (...given: Given) => Translated<Said>
    : { readonly [Key in keyof Texts]: Translated<Texts[Key]> };
