/** Words of the picture of relations. */
export const relationTexts = {
  title: "Relations",
  none: "No table refers to another.",
  choose: "Choose a table to see its columns.",
  picture: "Picture of relations. Arrow keys move it, plus and minus zoom, 0 shows all.",
  part: (shown: number, all: number) => `${shown} of ${all} tables: those with most relations.`,
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  whole: "Show all",
  more: (count: number) => `and ${count} more`,
  asList: (count: number) => (count === 1 ? "1 relation as a list" : `${count} relations as a list`),
};
