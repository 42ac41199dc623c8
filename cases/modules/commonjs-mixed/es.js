export default 'es default';
export const named = 'es named';
