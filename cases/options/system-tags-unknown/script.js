export const options = { systemTags: ['method', 'nonsense'] };
export default function () {}
