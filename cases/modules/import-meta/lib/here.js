export const here = import.meta.resolve('./beside.txt');
