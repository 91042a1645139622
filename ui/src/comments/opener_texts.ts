/** Texts of the button that opens comments, which is there before the rest is fetched. */
import { count } from "../shared/time";

export const openerTexts = {
  title: "Comments",
  titled: (open: number) => `Comments (${count(open)} open)`,
};
