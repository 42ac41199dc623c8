export const options = { tags: { a: String(__ENV.A) } };
export default function () { console.log(__ENV.A); }
