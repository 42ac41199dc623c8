use std::ops::AddAssign;

/// The memory of users by kind, in bytes, at the end of a run. The following memory is not measured: the rest of the
/// state of each user in Rust, TLS sessions, and the program itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserMemory {
    /// The number of users.
    pub users: u64,
    /// How many of them started from an image of the script's heap.
    pub users_with_image: u64,
    /// Bytes of these images, one for each worker.
    pub images: u64,
    /// Bytes of the image that users have changed.
    pub changes: u64,
    /// Bytes of objects that users have created since they started from the image.
    pub objects: u64,
    /// Bytes of the heaps of the users without an image.
    pub heaps: u64,
    /// Resident bytes of the stacks that scripts ran on.
    pub stacks: u64,
    /// The number of idle connections.
    pub connections: u64,
    /// The buffers of these connections.
    pub buffers: u64,
}

impl AddAssign for UserMemory {
    fn add_assign(&mut self, other: UserMemory) {
        self.users += other.users;
        self.users_with_image += other.users_with_image;
        self.images += other.images;
        self.changes += other.changes;
        self.objects += other.objects;
        self.heaps += other.heaps;
        self.stacks += other.stacks;
        self.connections += other.connections;
        self.buffers += other.buffers;
    }
}
