export const options = { tags: { a: 1, b: true, c: null } };
export default function () {}
