export const a = 'a', b = 'b';
export default 'main';
