/**
 * Returns the letters of a text as readers count them: an emoji, or a letter with its marks, is
 * one.
 */
export function lettersOf(text: string): string[] {
  return [...new Intl.Segmenter().segment(text)].map((one) => one.segment)
}
