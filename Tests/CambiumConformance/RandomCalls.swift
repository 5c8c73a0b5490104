// The same random calls to a store and to one in memory: after every call the same result or the
// same error, at the end the same models, and the same changes observed.

import Cambium

/// Random numbers from a seed (SplitMix64).
private struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  mutating func chance(oneIn bound: Int) -> Bool { below(bound) == 0 }

  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
}

/// The answers of a store to its calls, and the changes that it told its observers.
private struct StoreLog {
  var lines: [String] = []
  var owners: [ModelChange<Owner>] = []
  var pets: [ModelChange<Pet>] = []
}

/// Random calls, the same for the same seed.
struct RandomCalls {
  private var random: Dice

  /// Makes the same calls to a store and to one in memory.
  static func compare(_ store: any ModelStore, seed: UInt64) async throws {
    var (own, others) = (
      RandomCalls(random: Dice(seed: seed)), RandomCalls(random: Dice(seed: seed))
    )
    let found = try await own.calls(store)
    let right = try await others.calls(try MemoryStore(for: Owner.self, Pet.self))
    for (index, (found, right)) in zip(found.lines, right.lines).enumerated() {
      try expect(found, is: right, "the answer to call \(index)")
    }
    try expect(found.owners, is: right.owners, "the changes of owners")
    try expect(found.pets, is: right.pets, "the changes of pets")
  }

  private mutating func calls(_ store: any ModelStore) async throws -> StoreLog {
    let (owners, pets) = (try store.observe(Owner.self), try store.observe(Pet.self))
    var log = StoreLog()
    for _ in 0..<1000 {
      do { log.lines.append(try await call(store)) } catch { log.lines.append(told(error)) }
    }
    // The last ones end the walks.
    try await store.create(Owner(id: "zz", name: "the last"))
    try await store.create(Pet(id: 9999, owner: "zz"))
    log.lines.append("\(try await store.list(Owner.self))")
    log.lines.append("\(try await store.list(Pet.self))")
    for try await change in owners {
      log.owners.append(change)
      if change.id == "zz" { break }
    }
    for try await change in pets {
      log.pets.append(change)
      if change.id == 9999 { break }
    }
    return log
  }

  private mutating func owner() -> Owner.ID { Owner.ID(random.pick(["a", "b", "c", "1", "ü"])) }

  private mutating func pet() -> Pet.ID { Pet.ID(random.below(12)) }

  private mutating func ownerOrNil() -> Owner.ID? { random.chance(oneIn: 3) ? nil : owner() }

  private mutating func change(_ pet: inout Pet) {
    switch random.below(8) {
    case 0: pet.owner = ownerOrNil()
    case 1: pet.sitter = ownerOrNil()
    case 2: pet.vet = random.chance(oneIn: 2) ? owner() : nil
    case 3: pet.mother = random.chance(oneIn: 2) ? nil : self.pet()
    case 4: pet.friends = (0..<random.below(4)).map { _ in self.pet() }
    case 5: pet.age = random.below(60) - 10
    case 6: pet.weight = random.pick([nil, 1.5, 99, 101])
    default: pet.chip = random.pick([nil, "x", "y", "z"])
    }
  }

  private mutating func call(_ store: any ModelStore) async throws -> String {
    switch random.below(10) {
    case 0, 1:
      let model = Owner(id: owner(), name: random.pick(["Ada", "ada", "Bob", "Eve", "nobody"]))
      return "\(try await store.create(model))"
    case 2:
      let name = random.pick(["Ada", "BOB", "Cy", "Di"])
      return "\(try await store.update(owner()) { $0.name = name })"
    case 3: return "\(try await store.delete(owner()))"
    case 4, 5:
      var model = Pet(id: random.chance(oneIn: 4) ? Pet.ID() : pet(), owner: owner())
      for _ in 0..<random.below(5) { change(&model) }
      if model.id.isAssigned == false, random.chance(oneIn: 2) { model.id = pet() }
      return "\(try await store.create(model))"
    case 6, 7:
      let before = try await store.lookup(pet())
      guard var model = before else {
        return "\(try await store.update(pet()) { $0.age += 1 })"
      }
      change(&model)
      return "\(try await store.update(model.id) { [model] in $0 = model })"
    case 8: return "\(try await store.delete(pet()))"
    default: return try await list(store)
    }
  }

  private mutating func list(_ store: any ModelStore) async throws -> String {
    var listing = Listing<Pet>()
    let (owner, age) = (owner(), random.below(30))
    switch random.below(4) {
    case 0: listing = listing.where { $0.owner == owner }
    case 1:
      listing = listing.where {
        $0.age >= age; $0.owner.name.hasPrefix("A", .ignoringCase)
      }
    case 2: listing = listing.where { $0.friends.any { $0.age > age } || $0.chip == "x" }
    default: break
    }
    switch random.below(4) {
    case 0: listing = listing.order(by: \.age.descending, \.chip)
    case 1: listing = listing.order(by: \.owner.name, \.weight.nullsLast)
    case 2: listing = listing.order(by: \.sitter.descending.nullsFirst)
    default: break
    }
    if random.chance(oneIn: 3) { listing = listing.limit(random.below(6), offset: random.below(3)) }
    return "\(try await store.list(listing).map(\.id))"
  }
}
