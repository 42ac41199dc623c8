export const options = { blockHostnames: ['a.example', '*.b.example', 'c.*.example'] };
export default function () {}
