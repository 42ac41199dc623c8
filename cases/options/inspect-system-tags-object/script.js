export const options = { systemTags: { url: true } };
export default function () {}
