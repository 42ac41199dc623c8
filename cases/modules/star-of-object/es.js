export const b = 2;
export default 'd';
