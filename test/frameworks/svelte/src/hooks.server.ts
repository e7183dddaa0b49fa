/** Pages that are not there are no news. */
export const handleError = () => {};
