export const options = { tags: { flag: String(__ENV.FLAG), outside: String(__ENV.OUTSIDE) } };
export default function () {}
