#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A place on Earth, in degrees: two properties of the model that holds it, which can be indexed
/// and queried by themselves.
///
///     struct Airport: Model {
///       var id = ID()
///       var place = Coordinate()
///       static let schema = ModelSchema<Airport>("airports") { Index(\.place.latitude) }
///     }
///     let near = try database.query(Airport.self).near(\.place, to: paris, within: 50_000).fetch()
public struct Coordinate: Nested, Hashable {
  /// North of the equator, from -90 to 90.
  public var latitude = 0.0
  /// East of Greenwich, from -180 to 180.
  public var longitude = 0.0

  /// The mean radius of the Earth, in metres. (IUGG, 1980.)
  static let radius = 6_371_008.8

  /// The place in the gulf of Guinea where both are zero.
  public init() {}

  /// Makes a place of its degrees.
  public init(latitude: Double, longitude: Double) {
    (self.latitude, self.longitude) = (latitude, longitude)
  }

  /// The distance to another coordinate along a great circle, in metres. The Earth is taken for a
  /// sphere, so it is up to 0.6 % off. (The haversine formula; Sinnott, "Virtues of the haversine",
  /// 1984.)
  public func distance(to other: Coordinate) -> Double {
    let (south, north) = (radians(latitude), radians(other.latitude))
    let (up, across) = (sin((north - south) / 2), sin(radians(other.longitude - longitude) / 2))
    let share = up * up + cos(south) * cos(north) * across * across
    return 2 * Coordinate.radius * asin(min(1, share.squareRoot()))
  }

  /// The ranges of latitude and longitude outside of which nothing is as near as this.
  func box(_ distance: Double) -> (latitude: ClosedRange<Double>, longitudes: [ClosedRange<Double>])
  {
    // A little more than the distance: what is just inside must not be lost to rounding.
    let angle = distance / Coordinate.radius * (1 + 1e-9) + 1e-12
    let reach = angle * 180 / .pi
    let bounds = (latitude - reach)...(latitude + reach)
    let everywhere = -Double.infinity...Double.infinity
    // Around a pole all longitudes are near.
    guard bounds.lowerBound > -90, bounds.upperBound < 90 else { return (bounds, [everywhere]) }
    let width = asin(min(1, sin(angle) / cos(radians(latitude)))) * 180 / .pi + 1e-12
    let middle = longitude.remainder(dividingBy: 360)
    let (west, east) = (middle - width, middle + width)
    // Across the line where the date changes.
    if west < -180 { return (bounds, [(west + 360)...180, -180...east]) }
    if east > 180 { return (bounds, [west...180, -180...(east - 360)]) }
    return (bounds, [west...east])
  }
}

extension Coordinate: CustomStringConvertible, CustomDebugStringConvertible {
  /// The degrees, north and east: `40.64, -73.78`.
  public var description: String { "\(latitude), \(longitude)" }

  /// The degrees with their names: `Coordinate(latitude: 40.64, longitude: -73.78)`.
  public var debugDescription: String {
    "Coordinate(latitude: \(latitude), longitude: \(longitude))"
  }
}

private func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }

extension ModelQuery {
  /// Narrows to models within a distance of a place. An index on the latitude is used for the range
  /// around it; the real distance is checked last, by a ``filter(_:)``.
  ///
  ///     let near = try query.near(\.place, to: paris, within: 50_000).fetch()
  ///       .sorted { $0.place.distance(to: paris) < $1.place.distance(to: paris) }
  ///
  /// - Parameters:
  ///   - property: The property with a model's coordinate.
  ///   - center: The coordinate from which distances are measured.
  ///   - distance: In metres; nothing is within less than zero, or near what is no number.
  /// - Returns: The narrower query.
  /// - Complexity: O(models in the range of latitude), 0.1 µs each.
  public func near(
    _ property: KeyPath<M, Coordinate> & Sendable, to center: Coordinate, within distance: Double
  ) -> ModelQuery {
    guard distance >= 0, center.latitude.isFinite, center.longitude.isFinite else {
      return matching(Condition(.any([])))
    }
    let place = Fields<M>()[dynamicMember: property]
    let box = center.box(distance)
    return `where` { _ in
      place.latitude >= box.latitude.lowerBound
      place.latitude <= box.latitude.upperBound
    }.matching(
      box.longitudes.dropFirst().reduce(place.longitude.isIn(box.longitudes[0])) {
        $0 || place.longitude.isIn($1)
      }
    ).filter { $0[keyPath: property].distance(to: center) <= distance }
  }
}

extension Operand<Double> {
  fileprivate func isIn(_ range: ClosedRange<Double>) -> Condition {
    self >= range.lowerBound && self <= range.upperBound
  }
}
