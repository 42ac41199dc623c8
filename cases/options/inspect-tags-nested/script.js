export const options = { tags: { a: { b: 'c' } } };
export default function () {}
